/// What a view may tell of a matrix whose pattern is on the device alone, without bringing it home.
#pragma once

#include "mat/face/context.hpp"

namespace sparsegpu::face
{

/// Whether a view of this kind, for which no entry counts, leaves A's pattern on the device.
PetscErrorCode LooksAway(Mat A, bool few_facts, bool *away);
/// The sizes of A and, where its pattern is on the host, its rows.
PetscErrorCode ShapeToView(Mat A, CsrView *csr, PatternKey *key);
/// Whether all that is told of the format is known without a look at the rows.
bool KnownToView(const Settings &settings, const ConvertedMatrix *built, const Waiting *waiting, const PatternKey &key);
/// The choice that products go by, or will: as GetChoice(), but nothing is kept.
PetscErrorCode PeekChoice(Mat matrix, Plans *plans, const PatternKey &key, const Waiting *waiting, Choice *choice);

} // namespace sparsegpu::face
