import { z } from 'zod';
import { revision, slug, text, timestamp } from '../common';
import { actionName, namePattern } from '../name-pattern';

const patterns = z.array(namePattern).max(100);

const fields = {
  /** What the role may use; nothing else. */
  allowed: patterns.default([]),
  /** What it may not use, even if `allowed` lists it. */
  denied: patterns.default([]),
  description: text(1000).default(''),
};

/** Which tools a role may use (specification 2, Tool policy). */
export const toolPolicy = z
  .object({ role: slug, ...fields, revision, createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'ToolPolicy' });
export type ToolPolicy = z.infer<typeof toolPolicy>;

export const toolPolicyCreate = z.strictObject({ role: slug, ...fields }).meta({ id: 'ToolPolicyCreate' });

/** The whole policy; `role` may be named again, and is the one in the path. */
export const toolPolicyWrite = z.strictObject({ role: slug.optional(), ...fields }).meta({ id: 'ToolPolicyWrite' });
export type ToolPolicyFields = Omit<z.infer<typeof toolPolicyWrite>, 'role'>;

export const toolQuestion = z.strictObject({ tool: actionName }).meta({ id: 'ToolQuestion' });

export const toolResponse = z
  .object({ role: slug, tool: z.string(), allowed: z.boolean(), traceId: z.string() })
  .meta({ id: 'ToolAnswer' });
