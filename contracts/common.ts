import { z } from 'zod';

/** `task_<yyyymmdd>_<suffix>` and the other shapes the specification shows; never a path. */
export const taskId = z
  .string()
  .max(64)
  .regex(/^(task_|TASK-)[A-Za-z0-9_-]+$/, 'must look like task_20260101_ab12cd or TASK-12')
  .meta({ id: 'TaskId' });

export const attemptId = z
  .string()
  .regex(/^attempt_[A-Za-z0-9]{8,26}$/, 'must look like attempt_ab12cd34')
  .meta({ id: 'AttemptId' });

export const timestamp = z.iso.datetime();

/** `sha256:` and 64 lower-case hexadecimal digits. */
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** What a name is refused with that {@link isBranchName} does not take. */
export const notABranchName = 'must be the name of a branch';

/** The rules of git-check-ref-format for a branch name, and no leading dash, so that it is never an option. */
export const isBranchName = (name: string): boolean =>
  name.length > 0 &&
  name.length <= 200 &&
  name !== '@' &&
  name !== 'HEAD' &&
  !/^[-/]|[/.]$|\/\/|\.\.|@\{/.test(name) &&
  !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
  name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

/** A full git object name. */
export const objectName = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);

export const revision = z.number().int().min(1);

/** A revision in a file that people edit: far enough below the largest number that every change has a next one. */
export const revisionInFile = revision.max(9_000_000_000_000_000);

/** Name of a configured resource: an agent type, a repository. */
export const slug = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, dot, dash and underscore; starts with a letter or digit');

/** Text from a caller that ends up on a page or in a file: no NUL, no other control characters than tab and newline. */
export const text = (max: number, min = 0) =>
  z
    .string()
    .min(min)
    .max(max)
    .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/, 'must not contain control characters');

/** A branch as a caller names it. git would take `refs/heads/main` for a branch of that whole name. */
export const branchName = text(200, 1)
  .refine(isBranchName, 'must be the name of a branch that git permits')
  .refine((name) => !name.startsWith('refs/'), 'must be the name of the branch alone, without refs/heads/');

/**
 * Path of a file in a repository: relative, and of no part that leaves the worktree or leads into git's own directory. Names may
 * have any other characters, line ends too.
 */
export const filePath = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !/[\0\ud800-\udfff]/u.test(path), 'must be UTF-8 text without NUL')
  .refine((path) => !path.split('/').some((part) => part === '' || /^(?:\.{1,2}|\.git)$/i.test(part)), {
    message: 'must be a relative path without empty parts, `.`, `..` and `.git`',
  });

/** What `refine` takes to let exactly one of several fields through: other names or forms of the same value. */
export const exactlyOneOf = <N extends string>(...names: N[]) =>
  [
    (value: Partial<Record<N, unknown>>) => names.filter((name) => value[name] !== undefined).length === 1,
    { path: names.slice(0, 1), message: `exactly one of ${names.join(', ')} is required` },
  ] as const;

/** In a patch, a field that a record may be without: `null` takes it away. */
export const clearable = <T extends z.ZodType>(field: T) =>
  field
    .nullable()
    .transform((value) => value ?? undefined)
    .optional();

export const commitPolicy = z.enum(['forbidden', 'allowed', 'required']);
export const phase = z.enum(['explore', 'plan', 'implement', 'verify', 'publish']);
export type CommitPolicy = z.infer<typeof commitPolicy>;
export type Phase = z.infer<typeof phase>;

/** The workspace everything belongs to until identity brings more of them. */
export const localWorkspace = 'local';

/** On the outcome of a request whose idempotency key had been used for it before: nothing was done again. */
export const replayed = z.literal(true).optional();
