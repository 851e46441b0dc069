import { z } from 'zod';
import { type FieldIssue, validationError } from '../../errors/app-error';

/** More than a person reads; a hostile body can have hundreds of thousands. */
const maxIssues = 50;

/** The query of a route that declares none. */
export const emptyQuery = z.strictObject({});

/** The body of a route that declares none; a caller may send an empty object. */
export const emptyBody = z.strictObject({});

const pathText = (path: readonly PropertyKey[]): string => path.map(String).join('.').slice(0, 200);

/** The branch of a union the caller probably meant: one that fails somewhere inside rather than at its root. */
function likelyBranch(branches: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  return branches.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  );
}

/** zod's issues in the terms of a response: unknown fields are named one by one, a union reports one branch. */
export function fieldIssues(issues: readonly z.core.$ZodIssue[], base: readonly PropertyKey[] = []): FieldIssue[] {
  return issues.slice(0, maxIssues).flatMap((issue): FieldIssue[] => {
    const path = [...base, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const keys = issue.keys.slice(0, maxIssues);
      return keys.map((key) => ({ path: pathText([...path, key]), message: 'unknown field', code: issue.code }));
    }
    const branch = issue.code === 'invalid_union' ? likelyBranch(issue.errors) : undefined;
    return branch ? fieldIssues(branch, path) : [{ path: pathText(path), message: issue.message, code: issue.code }];
  });
}

/**
 * Parses one part of a request.
 *
 * @throws AppError `VALIDATION_ERROR` 400 with `details.issues[{path, message, code}]`
 */
export function parseOrRefuse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw validationError(fieldIssues(parsed.error.issues).slice(0, maxIssues));
  }
  return parsed.data;
}
