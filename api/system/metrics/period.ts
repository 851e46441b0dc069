import type { Period, StatedPeriod } from '../../../contracts/period';
import { PeriodError, resolvePeriod } from '../../../domain/periods/period';
import { validationError } from '../../../platform/errors/app-error';

/** The period that a query states. @throws AppError 400 at the field that does not fit the others */
export function periodOf({ period, from, to, tz }: StatedPeriod, now: Date): Period {
  try {
    return resolvePeriod({ period, from, to, tz }, now);
  } catch (error) {
    if (!(error instanceof PeriodError)) {
      throw error;
    }
    throw validationError([{ path: error.field, message: error.message, code: 'custom' }]);
  }
}
