/// The candidates of leastfill on a compressed graph without dense nodes.
#pragma once

#include "pc/ordering/cost.hpp"
#include "pc/ordering/graph.hpp"
#include "pc/ordering/leastfill.hpp"

namespace sparsegpu::ordering
{

/// Fast candidates order the whole graph, and each component keeps the one that is best there; nested dissection by a
/// library then orders those components where it can be expected to pay.
class Search
{
public:
  /// component [graph.pattern.n], 0 .. components - 1; space: where factorizations are to run; cores: that candidates
  /// may have, on which the order does not depend.
  Search(const WeightedGraph &graph, const Indices &component, PetscInt components, PetscReal factorizations,
         Space space, int cores);
  PetscErrorCode Run();
  /// The best order that was found, and what it takes.
  Indices Order() const;
  Cost    Total() const;

  const std::vector<Candidate> &Candidates() const { return candidates_; }
  /// Whether METIS began before it was known whether its order pays.
  bool BeganAhead() const { return ahead_.component >= 0; }

private:
  /// Operations of one order as a part of another's from which on the latter is clearly better.
  static constexpr PetscLogDouble MORE = 1.1;
  /// Operations from which on factors on a GPU have fronts that need cuBLAS.
  static constexpr PetscLogDouble LARGE_FRONTS = 2e9;

  struct Found {
    Outcome           outcome;
    Indices           order;
    std::vector<Cost> costs; ///< [components]
  };
  /// METIS's order of a component, found before it was known whether it pays.
  struct Ahead {
    PetscInt component = -1;
    Outcome  outcome;
    Indices  order;
  };
  PetscErrorCode RunFast();
  PetscErrorCode RunPetsc(const char type[]);
  PetscErrorCode RunDissection();
  Found          FindDegree() const;
  Found          FindLevels(int threads) const; ///< threads: as ByLevels() has them
  bool           FindBeside(PetscInt begun, Found *degree, Found *levels);
  PetscInt       ComponentAhead() const;
  void           DissectAhead(PetscInt component);
  Found          Evaluate(Outcome outcome, Indices &&order) const;
  void           Take(const char name[], Found &&found);
  bool           Better(const Cost &cost, PetscInt component) const;
  bool           WorthMore() const;
  bool           DissectionPays(PetscInt component, double chain) const;

  std::vector<double> ChainGains() const;
  void                Dissect(const Library &library, const Indices &number, PetscInt parts, bool metis);

  const WeightedGraph   &graph_;
  const Indices         &component_;
  PetscInt               components_;
  PetscReal              factorizations_;
  Space                  space_;
  int                    cores_;
  std::vector<Candidate> candidates_;
  std::vector<Indices>   orders_;               ///< of each candidate, of all nodes that it was tried on
  bool                   levels_alone_ = false; ///< a part of the graph told against minimum degree
  Ahead                  ahead_;
  Indices                winner_;  ///< [components] candidate, -1: none yet
  std::vector<Cost>      least_;   ///< [components] of the winner
  std::vector<Cost>      degree_;  ///< [components] of minimum degree; no flops: not known
  std::vector<double>    entries_; ///< [components] nodes and edges, in both directions
};

} // namespace sparsegpu::ordering
