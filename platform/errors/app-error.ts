/** HTTP statuses an expected refusal may carry. Anything unexpected is a plain Error and becomes a bare 500. */
export type ErrorStatus =
  400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 416 | 422 | 429 | 501 | 502 | 503 | 507;

/**
 * An expected refusal with a stable code.
 *
 * @param code stable identifier, e.g. `CONFLICT`
 * @param status HTTP status of its response
 * @param message sentence for a person that states what to do next
 * @param details machine-readable evidence; never contains secrets
 */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: string,
    readonly status: ErrorStatus,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** One problem with one field of a request. */
export interface FieldIssue {
  path: string;
  message: string;
  code?: string;
}

export const validationError = (issues: FieldIssue[], message = 'Validation failed'): AppError =>
  new AppError('VALIDATION_ERROR', 400, message, { issues });

export const notFound = (resource: string, id: string): AppError =>
  new AppError('NOT_FOUND', 404, `No ${resource} has the id ${JSON.stringify(id)}.`, { resource, id });

export const conflict = (message: string, details: Record<string, unknown> = {}, code = 'CONFLICT'): AppError =>
  new AppError(code, 409, message, details);

/** Narrows `value` or throws 404 for `resource`. */
export function assertFound<T>(value: T | null | undefined, resource: string, id: string): asserts value is T {
  if (value === null || value === undefined) {
    throw notFound(resource, id);
  }
}

/** The message of anything thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
