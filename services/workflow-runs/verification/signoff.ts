import { z } from 'zod';
import { slug, text } from '../http/fields';

export const commitSha = z
  .string()
  .regex(/^[0-9a-f]{7,64}$/i, 'must be 7 to 64 hexadecimal digits')
  .transform((sha) => sha.toLowerCase());

const signoffResult = z.enum(['pass', 'fail', 'pending']);

const described = z.strictObject({
  control: slug,
  repository: text(200),
  commit_sha: commitSha,
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .regex(/^\S*$/, 'must not contain spaces')
    .optional(),
  description: text(2_000, 0).optional(),
  source: text(200).optional(),
});

/** A person's statement that a control holds, or does not, for a commit. `status` is another name of `result`. */
export const signoffRequest = described
  .extend({ result: signoffResult.optional(), status: signoffResult.optional() })
  .superRefine(({ result, status }, context) => {
    if (result === undefined && status === undefined) {
      context.addIssue({ code: 'custom', path: ['result'], message: 'is required' });
    } else if (result !== undefined && status !== undefined && result !== status) {
      context.addIssue({ code: 'custom', path: ['status'], message: 'must be the same as result, or absent' });
    }
  });

/** A signoff as it is stored, with its result as `status`. */
export type SignoffInput = z.output<typeof described> & { status: z.infer<typeof signoffResult> };

export const signoff = z
  .object({
    id: z.string(),
    control: z.object({ slug: z.string() }),
    repository: z.object({ name: z.string() }),
    commit_sha: z.string(),
    result: signoffResult,
    /** The same. */
    status: signoffResult,
    url: z.string().optional(),
    description: z.string().optional(),
    source: z.string().optional(),
    created_at: z.string(),
  })
  .meta({ id: 'Signoff' });
export type Signoff = z.infer<typeof signoff>;
