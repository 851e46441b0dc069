import type { LaunchRefusal } from '../contracts/launch';
import { AppError } from '../platform/errors/app-error';

/** A refused launch as a value. */
export const refusal = (
  code: string,
  httpStatus: LaunchRefusal['httpStatus'],
  message: string,
  details: Record<string, unknown> = {},
): LaunchRefusal => ({ status: 'refused', code, httpStatus, message, details });

/** The error a refused launch leaves HTTP with. */
export const refusalError = (refused: LaunchRefusal): AppError =>
  new AppError(refused.code, refused.httpStatus, refused.message, refused.details);
