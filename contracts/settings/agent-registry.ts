import { z } from 'zod';
import { slug, taskId, text, timestamp } from '../common';
import { listPage } from '../query';
import { capability, providerRuntimeManifest } from '../runs/launch/contract';

/** A capability that a registered agent declares, for people; runtime evidence is in its manifest only. */
const skill = z.strictObject({ name: text(100, 1), description: text(1000).optional() });

/** Small facts an agent reports about itself: for display, bounded. */
const metadata = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/, 'letters, digits, dash and underscore'),
    z.union([text(2000), z.number(), z.boolean(), z.null()]),
  )
  .refine((value) => Object.keys(value).length <= 64, 'at most 64 entries');

const probe = providerRuntimeManifest.shape.probe;

/**
 * A manifest as an agent submits it: no unknown field, every text bounded. The digest is optional; it is computed again either
 * way.
 */
export const submittedManifest = z
  .strictObject({
    ...providerRuntimeManifest.shape,
    probeRevision: z.number().int().min(1).max(1_000_000),
    provider: slug,
    adapter: text(200, 1),
    protocolVersion: text(200, 1),
    providerVersion: text(200, 1).optional(),
    models: z.array(text(200, 1)).max(200),
    capabilities: z
      .array(z.strictObject({ ...capability.shape, id: text(64, 1), reason: text(1000).optional() }))
      .max(200),
    probe: z.strictObject({
      ...probe.shape,
      source: text(200, 1),
      diagnostics: z.array(text(2000)).max(50),
    }),
    digest: providerRuntimeManifest.shape.digest.optional(),
  })
  .meta({ id: 'SubmittedManifest' });
export type SubmittedManifest = z.infer<typeof submittedManifest>;

/** The names of endpoints beside `/api/agents/register/:id`. */
const reserved = ['stats', 'health', 'capabilities'];
export const registryId = slug.refine((id) => !reserved.includes(id), 'is the name of an endpoint');

export const agentRegistration = z
  .strictObject({
    id: registryId,
    name: text(100, 1),
    model: text(200, 1).optional(),
    provider: slug.optional(),
    capabilities: z.array(skill).max(100).optional(),
    version: text(100, 1).optional(),
    metadata: metadata.optional(),
    providerRuntimeManifest: submittedManifest.optional(),
    /** Taken because clients send it; never stored. */
    sessionKey: z.string().max(500).optional(),
  })
  .meta({ id: 'AgentRegistration' });
export type AgentRegistration = z.infer<typeof agentRegistration>;

export const agentHeartbeat = z
  .strictObject({
    status: z.enum(['online', 'busy', 'idle']).optional(),
    currentTaskId: taskId.optional(),
    currentTaskTitle: text(200).optional(),
    metadata: metadata.optional(),
    providerRuntimeManifest: submittedManifest.optional(),
  })
  .meta({ id: 'AgentHeartbeat' });
export type AgentHeartbeat = z.infer<typeof agentHeartbeat>;

/** What the manifest of a registration is worth now. */
export const evidenceState = z.enum(['fresh', 'stale', 'missing', 'invalidated']);

/** A registered agent as callers see it. */
export const registeredAgent = z
  .object({
    id: slug,
    name: z.string(),
    model: z.string().nullable(),
    provider: z.string().nullable(),
    version: z.string().nullable(),
    capabilities: z.array(skill),
    metadata,
    /** `offline` once there was no heartbeat for five minutes. */
    status: z.enum(['online', 'busy', 'idle', 'offline']),
    currentTaskId: z.string().nullable(),
    currentTaskTitle: z.string().nullable(),
    registeredAt: timestamp,
    registeredBy: z.string(),
    lastHeartbeat: timestamp,
    /** Whether the manifest counts when work is routed: `invalidated` after a change without new evidence. */
    evidence: evidenceState,
    providerRuntimeManifest: providerRuntimeManifest.nullable(),
    revision: z.number().int(),
  })
  .meta({ id: 'RegisteredAgent' });
export type RegisteredAgent = z.infer<typeof registeredAgent>;

export const registryQuery = z.strictObject({
  status: z.enum(['online', 'busy', 'idle', 'offline']).optional(),
  capability: text(100, 1).optional(),
  ...listPage(1000, 1000),
});

export const registryStats = z
  .object({
    total: z.number().int(),
    online: z.number().int(),
    busy: z.number().int(),
    idle: z.number().int(),
    offline: z.number().int(),
    withEvidence: z.number().int(),
    capabilities: z.array(z.object({ name: z.string(), agents: z.number().int() })),
  })
  .meta({ id: 'RegistryStats' });

export const registryHealth = z
  .object({
    healthy: z.boolean(),
    freshnessMs: z.number().int(),
    online: z.array(slug),
    offline: z.array(slug),
  })
  .meta({ id: 'RegistryHealth' });
