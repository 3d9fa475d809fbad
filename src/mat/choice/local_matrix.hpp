/// A sequential matrix as products see it: its rows, what was asked of it, the converted copies, and the choices that
/// wait for their conversion to pay.
#pragma once

#include "mat/choice/select.hpp"
#include "mat/converted/converted.hpp"

namespace sparsegpu::choice
{

/// What auto decided for one operation in one space, and the products that wait for its conversion to pay: lazy.cxx.
struct Waiting {
  std::shared_ptr<Choice> choice; ///< null before the analysis
  PatternKey              pattern;
  Version                 version       = 0;
  bool                    inherited     = false; ///< choice of a matrix that this one is a copy of, not compared
  PetscObjectState        copied        = -1;    ///< the state of the copy, while nothing has been written to it
  PetscCount              since_pattern = 0, since_values = 0; ///< products as csr since these have changed
};

/// What a converted copy is asked for.
enum class Use {
  Product, ///< one product
  Prepare, ///< whatever the next product needs, not counted
  Tell,    ///< MatView(): as it is, with the choice made
  Solve    ///< as many products as a solver needs
};

struct LocalMatrix {
  Rows                   rows;
  Settings               settings;
  std::shared_ptr<Plans> plans;           ///< of the rows on the device, from the choice of a format to its build
  ConvertedMatrix        converted[2][3]; ///< [space][operation]
  ConvertedMatrix        early[2][3];     ///< [space][operation] csr, or scattered from it, until the conversion pays
  Waiting                waiting[2][3];   ///< [space][operation]
  const ConvertedMatrix *last = nullptr;  ///< used by the last product that was not a transpose's
  int                    idle = 0;        ///< products since the copy of the rows on the device was last read
};

/// The converted copy of A for `operation` in `space`, built or refreshed if A has changed.
PetscErrorCode GetConverted(Mat A, LocalMatrix *matrix, Operation operation, Space space, Use use,
                            ConvertedMatrix **converted);
/// view->device, where A is large enough and there is memory: the rows that csr multiplies with until the conversion,
/// or a copy, which GetConverted() drops when it is done.
PetscErrorCode GetDeviceRows(Mat A, LocalMatrix *matrix, CsrView *view);
/// Drops all copies and choices.
void ForgetCopies(LocalMatrix *matrix);

/// Whether auto still multiplies with csr, before the conversion pays. Counts the product.
PetscErrorCode IsEarly(Mat A, LocalMatrix *matrix, Operation operation, Space space, Use use, bool *early);
/// auto's choice for the rows of `plans`, op(A) of key `key`: the one made before, or inherited, if it is of such a
/// matrix; else a new one, by `trial` or by the model.
PetscErrorCode GetChoice(Mat matrix, const CsrView &A, Plans *plans, const PatternKey &key, bool trial,
                         Waiting *waiting, std::shared_ptr<Choice> *choice);
/// The choices of A, of rows `csr` and key `key`, are those of a copy with A's pattern and, if `values`, A's values,
/// until it is asked to differ. `state`: the copy's object state as long as nothing is written to it. For choices on
/// the host O(nonzeros) once: these outlive new values in the copy's pattern. Those on the device go by the state
/// alone.
PetscErrorCode InheritChoices(Mat A, LocalMatrix *from, const CsrView &csr, const PatternKey &key, bool values,
                              PetscObjectState state, LocalMatrix *to);
/// Is the choice that A has inherited one for its rows as they are? `csr`: on the host, of A.
PetscErrorCode StillInherits(Mat A, const CsrView &csr, Space space, const Waiting &waiting, bool *still);
/// Why csr, and until when.
PetscErrorCode TellEarly(const Waiting &waiting, std::string *reason);
/// What the transposed products run on; empty if there was none. `plain`: auto's choice for the matrix itself on the
/// host; null: not known.
PetscErrorCode TellTransposed(const LocalMatrix &matrix, const Choice *plain, std::string *text);

extern PetscLogEvent ChooseEvent;

} // namespace sparsegpu::choice
