from pathlib import Path

from spack.package import *

try:  # Spack 1.0 and newer; before, spack.package has them
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass


class Sparsegpu(CMakePackage, CudaPackage):
    """Sparse matrix formats, preconditioners and solvers for GPUs and CPUs as a plug-in that PETSc loads at run time,
    into programs that are neither changed nor linked anew."""

    # The checkout that this recipe lies in: `spack repo add packaging/spack` in a clone is all that is needed.
    git = Path(__file__).resolve().parents[4].as_uri()

    license("BSD-2-Clause")

    version("main", branch="main")

    # PETSc decides on numbers: one plug-in serves one build of PETSc.
    variant("complex", default=False, description="For a PETSc with complex scalars")
    variant("int64", default=False, description="For a PETSc with 64-bit integers")
    variant("precision", default="double", values=("single", "double"), multi=False, description="Of PETSc's scalars")
    variant("openmp", default=False, description="Products on the CPU run in Kokkos's OpenMP space, else in one thread")

    variant("scotch", default=False, description="Orderings of direct factorizations by SCOTCH, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:+mpi+shared")
    # No variant: Kokkos runs the products on the CPU, also in a build with CUDA.
    depends_on("kokkos@3.4:+serial")
    depends_on("metis")  # orderings of direct factorizations
    depends_on("suite-sparse")
    depends_on("scotch@7:", when="+scotch")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("kokkos~openmp", when="~openmp")
    for switch in ("complex", "int64"):
        depends_on(f"petsc+{switch}", when=f"+{switch}")
        depends_on(f"petsc~{switch}", when=f"~{switch}")
    depends_on("petsc+double", when="precision=double")
    depends_on("petsc~double", when="precision=single")
    depends_on("petsc+cuda", when="+cuda")  # vectors live on the GPU
    depends_on("petsc~cuda", when="~cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    depends_on("cuda@12:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda", msg="Name a GPU architecture: cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define("SPARSEGPU_PETSC_DIR", self.spec["petsc"].prefix),
            self.define("SPARSEGPU_PETSC_ARCH", ""),
            self.define("SPARSEGPU_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("SPARSEGPU_SCOTCH", self.spec.satisfies("+scotch")),
            self.define("SPARSEGPU_TESTS", self.run_tests),
            self.define("SPARSEGPU_EXAMPLES", False),
            self.define("SPARSEGPU_BENCH", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("SPARSEGPU_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return args
