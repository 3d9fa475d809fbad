static const char help[] =
    "The protocol of src/comm/protocol.hpp, in all interleavings of its steps: every directed graph of 2 and of 3 ranks,\n"
    "4 exchanges. The same for reductions (src/comm/reduce.hpp). Rules that are wrong must be found wrong.\n\n";

#include "../testing.hpp"
#include "comm/protocol.hpp"

#include <array>
#include <unordered_set>

using namespace testing;
using sparsegpu::comm::Exchange;

namespace
{
constexpr int MOST = 3, WORDS = 2; // ranks; entries of a message, which a fast neighbour could tear

/// What a rank waits for and where it writes, as protocol.hpp has it unless a test says otherwise.
struct Rules {
  Exchange (*before_writing)(Exchange) = [](Exchange k) { return sparsegpu::comm::BeforeWriting(k); };
  Exchange (*before_reading)(Exchange) = [](Exchange k) { return sparsegpu::comm::BeforeReading(k); };
  int (*half)(Exchange)                = [](Exchange k) { return sparsegpu::comm::HalfOf(k); };
  bool acknowledges                    = true; ///< also those that only send to a rank hear from it
};

/// One step that nothing can interrupt.
struct Step {
  enum class Kind {
    Await, ///< the flag that `other` writes here has reached `value`
    Write, ///< entry `word` of the part of `other`'s half `half` that this rank fills
    Tell,  ///< the flag in `other`'s memory
    Read,  ///< entry `word` of the part of this rank's half `half` that `other` fills
    Match  ///< the same, once it is of exchange `value`
  } kind;
  int      other, half, word;
  Exchange value;
};

/// Graph: bit r * MOST + s: rank r sends to rank s.
bool Sends(unsigned graph, int r, int s)
{
  return graph >> (r * MOST + s) & 1;
}

/// All steps of rank r, as Begin and End of a channel do them.
std::vector<Step> Program(const Rules &rules, unsigned graph, int ranks, int r, Exchange exchanges)
{
  std::vector<Step> steps;
  for (Exchange k = 1; k <= exchanges; k++) {
    for (int s = 0; s < ranks; s++) {
      if (!Sends(graph, r, s)) continue;
      steps.push_back({Step::Kind::Await, s, 0, 0, k > 0 ? rules.before_writing(k) : 0});
      for (int w = 0; w < WORDS; w++) steps.push_back({Step::Kind::Write, s, rules.half(k), w, k});
    }
    for (int s = 0; s < ranks; s++)
      if (Sends(graph, r, s) || (rules.acknowledges && Sends(graph, s, r)))
        steps.push_back({Step::Kind::Tell, s, 0, 0, k});
    for (int s = 0; s < ranks; s++)
      if (Sends(graph, s, r)) steps.push_back({Step::Kind::Await, s, 0, 0, rules.before_reading(k)});
    for (int s = 0; s < ranks; s++)
      for (int w = 0; w < WORDS && Sends(graph, s, r); w++) steps.push_back({Step::Kind::Read, s, rules.half(k), w, k});
  }
  return steps;
}

/// All steps of rank r in reductions: to all others, then from all others.
std::vector<Step> Reductions(const Rules &rules, int ranks, int r, Exchange reductions)
{
  std::vector<Step> steps;
  for (Exchange k = 1; k <= reductions; k++)
    for (Step::Kind kind : {Step::Kind::Write, Step::Kind::Match})
      for (int s = 0; s < ranks; s++)
        for (int w = 0; w < WORDS && s != r; w++) steps.push_back({kind, s, rules.half(k), w, k});
  return steps;
}

struct Word {
  Exchange value = 0;
  bool     read  = true;
};
/// Flags and buffers follow from how far each rank is, since each word has one writer: states are told by that alone.
struct State {
  std::array<unsigned char, MOST>                                            at   = {};
  std::array<std::array<Exchange, MOST>, MOST>                               flag = {}; ///< [of][by]
  std::array<std::array<std::array<std::array<Word, WORDS>, 2>, MOST>, MOST> buffer;    ///< [of][by][half][word]
};

struct Explorer {
  std::vector<std::vector<Step>> programs;
  std::unordered_set<unsigned>   seen;
  std::string                    fault;

  /// Takes the next step of rank r in *state; false if it has to wait or there is none.
  bool Take(State *state, size_t r)
  {
    if (state->at[r] == programs[r].size()) return false;
    const Step  &step  = programs[r][state->at[r]];
    const size_t other = static_cast<size_t>(step.other), half = static_cast<size_t>(step.half),
                 word = static_cast<size_t>(step.word);
    if (step.kind == Step::Kind::Await && state->flag[r][other] < step.value) return false;
    if (step.kind == Step::Kind::Match && state->buffer[r][other][half][word].value != step.value) return false;
    if (step.kind == Step::Kind::Tell) state->flag[other][r] = step.value;
    if (step.kind == Step::Kind::Write) {
      Word &there = state->buffer[other][r][half][word];
      if (!there.read) fault = "unread entries are overwritten";
      there = Word{step.value, false};
    }
    if (step.kind == Step::Kind::Read || step.kind == Step::Kind::Match) {
      Word &here = state->buffer[r][other][half][word];
      if (here.value != step.value) fault = "entries of another exchange are read";
      here.read = true;
    }
    state->at[r]++;
    return true;
  }

  void Explore()
  {
    std::vector<State> open(1);
    seen.insert(0);
    while (!open.empty() && fault.empty()) {
      const State now = open.back();
      open.pop_back();
      bool moved = false, done = true;
      for (size_t r = 0; r < programs.size(); r++) {
        State next = now;
        done       = done && now.at[r] == programs[r].size();
        if (!Take(&next, r)) continue;
        moved              = true;
        const unsigned key = next.at[0] + 256u * next.at[1] + 65536u * next.at[2];
        if (seen.insert(key).second) open.push_back(next);
      }
      if (!moved && !done) fault = "all ranks wait";
    }
  }
};

/// What goes wrong in any graph of `ranks` ranks; *states: how many states there are.
std::string FirstFault(const Rules &rules, int ranks, Exchange exchanges, size_t *states)
{
  *states = 0;
  for (unsigned graph = 0; graph < 1u << (MOST * MOST); graph++) {
    bool outside = false; // an edge that these ranks do not have
    for (int r = 0; r < MOST; r++)
      for (int s = 0; s < MOST; s++) outside = outside || (Sends(graph, r, s) && (r == s || r >= ranks || s >= ranks));
    if (outside) continue;
    Explorer explorer;
    for (int r = 0; r < ranks; r++) explorer.programs.push_back(Program(rules, graph, ranks, r, exchanges));
    explorer.Explore();
    *states += explorer.seen.size();
    if (!explorer.fault.empty()) return explorer.fault;
  }
  return "";
}

PetscErrorCode Expect(const char what[], const Rules &rules, const std::string &expected)
{
  PetscFunctionBeginUser;
  std::string found;
  for (int ranks = 2; ranks <= MOST && found.empty(); ranks++) {
    size_t states;
    found = FirstFault(rules, ranks, 4, &states);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %d ranks: %zu states%s%s\n", what, ranks, states,
                          found.empty() ? "" : ", ", found.c_str()));
    PetscCheck(states > 100 || !found.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu states are not all", states);
  }
  PetscCheck(found == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: found \"%s\", expected \"%s\"", what,
             found.c_str(), expected.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ExpectReductions(const char what[], const Rules &rules, const std::string &expected)
{
  PetscFunctionBeginUser;
  for (int ranks = 2; ranks <= MOST; ranks++) {
    Explorer explorer;
    for (int r = 0; r < ranks; r++) explorer.programs.push_back(Reductions(rules, ranks, r, 5));
    explorer.Explore();
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %d ranks: %zu states\n", what, ranks, explorer.seen.size()));
    PetscCheck(explorer.fault == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: found \"%s\", expected \"%s\"", what,
               explorer.fault.c_str(), expected.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestRight()
{
  PetscFunctionBeginUser;
  PetscCall(Expect("the protocol", Rules(), ""));
  PetscCall(ExpectReductions("reductions", Rules(), ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestWrong()
{
  Rules rules;

  PetscFunctionBeginUser;
  rules.before_writing = [](Exchange k) { return k < 2 ? 0 : k - 2; };
  PetscCall(Expect("a sender two exchanges ahead", rules, "unread entries are overwritten"));
  rules      = Rules();
  rules.half = [](Exchange) { return 0; };
  PetscCall(Expect("one buffer", rules, "unread entries are overwritten"));
  PetscCall(ExpectReductions("reductions in one buffer", rules, "unread entries are overwritten"));
  rules                = Rules();
  rules.before_reading = [](Exchange k) { return k - 1; };
  PetscCall(Expect("a reader one exchange ahead", rules, "entries of another exchange are read"));
  rules              = Rules();
  rules.acknowledges = false;
  PetscCall(Expect("no word to those that only send", rules, "all ranks wait"));
  rules                = Rules();
  rules.before_writing = [](Exchange k) { return k; };
  PetscCall(Expect("a sender that waits for the same exchange", rules, "all ranks wait"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"right", TestRight}, {"wrong", TestWrong}});
}
