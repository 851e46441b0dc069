/** HTTP statuses an expected refusal may carry. Anything unexpected is a plain Error and becomes a bare 500. */
export type ErrorStatus =
  400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 416 | 422 | 429 | 501 | 502 | 503 | 507;

export interface AppErrorOptions {
  /** HTTP status of its response. */
  status: ErrorStatus;
  /** A sentence for a person that states what to do next. */
  message: string;
  /** Machine-readable evidence; never contains secrets. */
  details?: Record<string, unknown>;
}

/** An expected refusal with a stable code, e.g. `CONFLICT`. */
export class AppError extends Error {
  override readonly name = 'AppError';

  readonly status: ErrorStatus;
  readonly details: Record<string, unknown>;

  constructor(
    readonly code: string,
    { status, message, details = {} }: AppErrorOptions,
  ) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** One problem with one field of a request. */
export interface FieldIssue {
  path: string;
  message: string;
  code?: string;
}

export const validationError = (issues: FieldIssue[], message = 'Validation failed'): AppError =>
  new AppError('VALIDATION_ERROR', { status: 400, message, details: { issues } });

export const notFound = (resource: string, id: string): AppError =>
  new AppError('NOT_FOUND', {
    status: 404,
    message: `No ${resource} has the id ${JSON.stringify(id)}.`,
    details: { resource, id },
  });

export const conflict = (message: string, details: Record<string, unknown> = {}, code = 'CONFLICT'): AppError =>
  new AppError(code, { status: 409, message, details });

/** Narrows `value` or throws 404 for `resource`. */
export function assertFound<T>(value: T | null | undefined, resource: string, id: string): asserts value is T {
  if (value === null || value === undefined) {
    throw notFound(resource, id);
  }
}

/** The message of anything thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
