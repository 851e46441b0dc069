import { z } from 'zod';
import { slug, text } from '../http/fields';

export const commitSha = z
  .string()
  .regex(/^[0-9a-f]{7,64}$/i, 'must be 7 to 64 hexadecimal digits')
  .transform((sha) => sha.toLowerCase());

const signoffStatus = z.enum(['pass', 'fail', 'pending']);

/** A person's statement that a control holds, or does not, for a commit. */
export const signoffInput = z.strictObject({
  control: slug,
  repository: text(200),
  commit_sha: commitSha,
  status: signoffStatus,
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .regex(/^\S*$/, 'must not contain spaces')
    .optional(),
  description: text(2_000, 0).optional(),
  source: text(200).optional(),
});
export type SignoffInput = z.output<typeof signoffInput>;

export const signoff = z
  .object({
    id: z.string(),
    control: z.object({ slug: z.string() }),
    repository: z.object({ name: z.string() }),
    commit_sha: z.string(),
    status: signoffStatus,
    url: z.string().optional(),
    description: z.string().optional(),
    source: z.string().optional(),
    created_at: z.string(),
  })
  .meta({ id: 'Signoff' });
export type Signoff = z.infer<typeof signoff>;
