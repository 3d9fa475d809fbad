#!/bin/sh
# Installs the programs that `ctest -L clients` runs with the plug-in: FEniCS old and new, deal.II, SLEPc, SUNDIALS and
# GetDP of Debian 12, with their demos; 700 MB to download, most of it deal.II and its documentation. Without deal.II:
#
#   tools/install_clients.sh -small
set -eu
packages="python3-dolfinx-real dolfinx-doc python3-dolfin dolfin-doc python3-matplotlib libslepc-real3.18-dev
  libslepc3.18-dev-examples python3-slepc4py-real python-slepc4py-doc libsundials-dev getdp"
[ "${1:-}" = -small ] || packages="$packages libdeal.ii-dev libdeal.ii-doc"
if ! command -v apt-get > /dev/null 2>&1; then
  echo "No apt-get here; the tests look for Debian's packages:" $packages >&2
  exit 1
fi
run=""
[ "$(id -u)" = 0 ] || run=sudo
$run apt-get update -qq
DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends $packages > /dev/null
