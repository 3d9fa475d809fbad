/// A part is a range of the order: its separator goes to the end of the range, and the two sides share what is before.
/// Neighbours of a part's nodes are its own or in separators that were found before it, so threads share nothing else.
#include "pc/ordering/dissection.hpp"
#include <algorithm>
#include <numeric>
#include <system_error>
#include <thread>
#include "pc/ordering/cores.hpp"
#include "pc/ordering/part_queue.hpp"

namespace sparsegpu::ordering
{

namespace
{
/// Nodes of the smallest part that another thread may take: a part of so many takes longer than handing it on.
constexpr PetscInt HANDED_ON = 4000;
constexpr int      MOST      = 16; ///< threads: the first cuts are one thread's

/// Nodes order[begin] .. order[end - 1], not yet cut; marks of its searches are above `mark`.
struct Part {
  PetscInt begin, end, mark;
  PetscInt Size() const { return end - begin; }
};

/// A connected part as a breadth-first search found it: in the queue from begin to end, level l from level[l] on.
struct Levels {
  PetscInt              begin = 0, end = 0;
  std::vector<PetscInt> level;
  PetscInt              Count() const { return static_cast<PetscInt>(level.size()); }
};

class Dissection
{
public:
  explicit Dissection(const SymmetricPattern &A) : A_(A), order_(A.n), queue_(A.n), mark_(A.n, 0), cut_(A.n, 0)
  {
    std::iota(order_.begin(), order_.end(), 0);
  }
  void    Run(int threads);
  Indices Take() { return std::move(order_); }

private:
  void     Serve();
  void     Cut(const Part &part, std::vector<Part> *parts);
  void     CutConnected(Levels *found, PetscInt *mark, std::vector<Part> *parts);
  void     Search(PetscInt root, PetscInt mark, Levels *found);
  PetscInt LastOfFewNeighbours(const Levels &found) const;

  const SymmetricPattern &A_;
  Indices                 order_, queue_, mark_;
  std::vector<char>       cut_; ///< in a separator

  PartQueue<Part> ready_;
};

/// Breadth first from `root`, over nodes without `mark`; they are put into the queue from found->begin on.
void Dissection::Search(PetscInt root, PetscInt mark, Levels *found)
{
  PetscInt at = found->begin;
  found->end  = found->begin;
  found->level.clear();
  queue_[found->end++] = root;
  mark_[root]          = mark;
  while (at < found->end) {
    const PetscInt end = found->end;
    found->level.push_back(at);
    for (; at < end; at++)
      for (PetscCount e = A_.i[queue_[at]]; e < A_.i[queue_[at] + 1]; e++) {
        const PetscInt k = A_.j[e];
        if (mark_[k] == mark || cut_[k]) continue;
        mark_[k]             = mark;
        queue_[found->end++] = k;
      }
  }
}

PetscInt Dissection::LastOfFewNeighbours(const Levels &found) const
{
  PetscInt   best = queue_[found.level.back()];
  PetscCount few  = -1;
  for (PetscInt at = found.level.back(); at < found.end; at++) {
    PetscCount neighbours = 0;
    for (PetscCount e = A_.i[queue_[at]]; e < A_.i[queue_[at] + 1]; e++) neighbours += !cut_[A_.j[e]];
    if (few >= 0 && neighbours >= few) continue;
    few  = neighbours;
    best = queue_[at];
  }
  return best;
}

/// From a node that is far from all others the middle level is narrow; those of its nodes that touch the next level
/// separate.
void Dissection::CutConnected(Levels *found, PetscInt *mark, std::vector<Part> *parts)
{
  const PetscInt begin = found->begin, size = found->end - begin;
  for (PetscInt levels = 0; found->Count() > std::max<PetscInt>(levels, 1) && found->Count() < size;) {
    levels = found->Count();
    Search(LastOfFewNeighbours(*found), ++*mark, found);
  }
  const auto own = queue_.begin() + begin, end = queue_.begin() + found->end;
  if (found->Count() < 3) {
    std::copy(own, end, order_.begin() + begin);
    return;
  }
  const PetscInt middle = (found->Count() + 2) / 2 - 1, next = found->level[middle + 1];
  const PetscInt after = middle + 2 < found->Count() ? found->level[middle + 2] : found->end;
  ++*mark;
  for (PetscInt at = next; at < after; at++) mark_[queue_[at]] = *mark;
  PetscInt first = begin, last = found->end;
  for (PetscInt at = begin; at < next; at++) {
    const PetscInt k         = queue_[at];
    bool           separates = false;
    if (at >= found->level[middle])
      for (PetscCount e = A_.i[k]; e < A_.i[k + 1] && !separates; e++)
        separates = mark_[A_.j[e]] == *mark && !cut_[A_.j[e]];
    if (separates) {
      order_[--last] = k;
      cut_[k]        = 1;
    } else {
      order_[first++] = k;
    }
  }
  std::copy(queue_.begin() + next, end, order_.begin() + first);
  if (first - begin > 1) parts->push_back({begin, first, *mark});
  if (last - first > 1) parts->push_back({first, last, *mark});
}

void Dissection::Cut(const Part &part, std::vector<Part> *parts)
{
  std::vector<Levels> connected;
  PetscInt            mark = part.mark + 1;
  Levels              found;
  found.end        = part.begin;
  const auto first = order_.begin() + part.begin;
  std::iter_swap(first, std::min_element(first, order_.begin() + part.end)); // a corner of a grid's box
  for (PetscInt at = part.begin; at < part.end; at++) {
    if (mark_[order_[at]] == mark) continue;
    found.begin = found.end;
    Search(order_[at], mark, &found);
    if (found.Count() < 2) found.level.clear(); // a node alone, of which there may be many
    connected.push_back(found);
  }
  for (Levels &one : connected) CutConnected(&one, &mark, parts);
}

/// Small parts of its own a thread keeps for itself.
void Dissection::Serve()
{
  std::vector<Part> mine;
  ready_.Serve([&](const Part &taken) {
    mine.assign(1, taken);
    while (!mine.empty()) {
      const Part part = mine.back();
      mine.pop_back();
      const auto before = static_cast<std::ptrdiff_t>(mine.size());
      Cut(part, &mine);
      const auto large =
          std::partition(mine.begin() + before, mine.end(), [](const Part &p) { return p.Size() < HANDED_ON; });
      for (auto p = large; p != mine.end(); ++p) ready_.Put(*p);
      mine.erase(large, mine.end());
    }
  });
}

void Dissection::Run(int threads)
{
  std::vector<std::thread> others;
  if (A_.n == 0) return;
  ready_.Put({0, A_.n, 0});
  const int cores = threads > 0 ? threads : Cores();
  const int most  = std::min({cores, MOST, static_cast<int>(A_.n / HANDED_ON)});
  for (int t = 1; t < most; t++) {
    try {
      others.emplace_back([this] { Serve(); });
    } catch (const std::system_error &) { // no more can be had
      break;
    }
  }
  Serve();
  for (std::thread &other : others) other.join();
  ready_.Check();
}
} // namespace

Indices ByLevels(const SymmetricPattern &A, int threads)
{
  Dissection dissection(A);
  dissection.Run(threads);
  return dissection.Take();
}

} // namespace sparsegpu::ordering
