import { z } from 'zod';
import { slug, text, timestamp } from '../common';
import { nextCursor } from '../query';
import { namedToolServers } from './tool-server';

/** Longest text of one section of an agent's document, in characters (specification 2, Limits). */
export const sectionLimit = 20_000;

export const capabilityId = z
  .string()
  .max(64)
  .regex(/^[a-z]+(\.[a-z-]+)+$/, 'must look like run.start');

/** What must hold before a run of the profile is launched. No check runs a command. */
export const healthCheck = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent-enabled') }),
  /** The probe of the agent on its host succeeded: its program exists. */
  z.strictObject({ kind: z.literal('executable-found') }),
  z.strictObject({ kind: z.literal('repository-configured') }),
  /** The agent's runtime supports this capability; `advisory` is not enough. */
  z.strictObject({ kind: z.literal('capability'), capability: capabilityId }),
]);
export type HealthCheck = z.infer<typeof healthCheck>;

/** Names of tools, servers or permissions: exact, no patterns. */
const names = z.array(text(200, 1)).max(128);

export const restrictions = z.strictObject({
  tools: z.strictObject({ allowed: names.optional(), denied: names.optional() }).optional(),
  mcpServers: names.optional(),
  permissions: names.optional(),
});

const fields = {
  name: text(100, 1),
  description: text(1000).optional(),
  agent: slug,
  /** Instead of the agent's own. */
  model: text(200, 1).optional(),
  /** The mode of the sessions of an `acp` agent, instead of the agent's own. */
  mode: text(200, 1).optional(),
  /** The tool servers of the board whose tools its runs may call, instead of the agent's own. */
  toolServers: namedToolServers.optional(),
  instructions: text(sectionLimit).default(''),
  requiredChecks: z.array(healthCheck).max(32).default([]),
  restrictions: restrictions.default({}),
  enabled: z.boolean().default(true),
};

/** A way to run an agent that launches name with `profileId`. */
export const profile = z
  .object({ id: slug, ...fields, revision: z.number().int(), createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'Profile' });
export type Profile = z.infer<typeof profile>;

export const profileWrite = z.strictObject(fields).meta({ id: 'ProfileWrite' });
export type ProfileWrite = z.infer<typeof profileWrite>;

export const profileList = z.object({ profiles: z.array(profile), nextCursor }).meta({ id: 'ProfileList' });
