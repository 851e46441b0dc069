/** An operation as the OpenAPI document has it, with `:name` parameters: `GET /api/tasks/:taskId`. */
export type Operation = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** A refused request: why, and which operation it called. */
export interface Refused {
  details: Record<string, unknown>;
  /** The operation of the request, when it reached one. */
  operation: string | undefined;
}

/** A call that helps after a refusal. */
export interface Step {
  /** `repeat` is the refused request; `read` reads what it was about, or the nearest thing above it that can be read. */
  call: Operation | 'repeat' | 'read';
  /** One line: what the call is good for. */
  remedy: string;
  /**
   * Parameters of the path whose values are in other fields of the details than the one of their name, as paths with dots. All
   * other parameters have the value of the field, or of the refused request's parameter, of their name.
   */
  ids?: Record<string, readonly string[]>;
  /** Fields of the request's body, each with the field of the details that it has the value of; all of them or none is sent. */
  body?: Record<string, string>;
  /** For which of the refusals with this code it is; for all when absent. */
  when?: (refused: Refused) => boolean;
}

/** The first step that is for the refusal and whose parameters are all known is the one to take; or why there is none. */
export type Remedy = readonly [Step, ...Step[]] | { none: string };

/** Whether a field of the details has a value. */
export const has =
  (field: string) =>
  ({ details }: Refused): boolean =>
    details[field] !== undefined && details[field] !== null;

/** Whether a field of the details has this value. */
export const is =
  (field: string, value: unknown) =>
  ({ details }: Refused): boolean =>
    details[field] === value;

/** Whether the refused request called an operation whose path is, or is below, one of these. */
export const calls =
  (...paths: string[]) =>
  ({ operation = '' }: Refused): boolean =>
    paths.some((path) => operation.endsWith(path) || operation.includes(`${path}/`));
