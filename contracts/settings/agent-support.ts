import { z } from 'zod';
import { digest, slug, timestamp } from '../common';
import { nextCursor } from '../query';
import { observedOffer } from './session-offer';

/** A host's report on one configured agent (`GET /api/config/agent-support`); nothing of its environment. */
export const agentSupportRow = z
  .object({
    agentType: slug,
    hostId: z.string().nullable(),
    enabled: z.boolean(),
    /** The preset whose program it is; the provider family where it is none's. */
    profileId: z.string(),
    adapterId: z.string(),
    transport: z.enum(['process-jsonl', 'acp', 'http-tools']),
    supportTier: z.enum(['detected', 'configured', 'degraded', 'unsupported']),
    reason: z.string(),
    failureClass: z.enum(['none', 'disabled', 'not-installed', 'probe-failed', 'launch-failed']),
    checkedAt: timestamp.nullable(),
    executableFound: z.boolean().nullable(),
    /** Whether a check within the last hour was let in by the agent; `null` before one, and where the agent did not show it. */
    authenticated: z.boolean().nullable(),
    providerVersion: z.string().optional(),
    providerBuild: z.string().optional(),
    manifestDigest: digest.optional(),
    circuit: z.object({
      state: z.enum(['closed', 'open', 'half-open']),
      failures: z.number().int(),
      retryAt: timestamp.optional(),
    }),
    /** Models and modes as a session on the host has listed them within the last hour; absent before there was one. */
    offer: observedOffer.optional(),
    diagnostics: z.array(z.string()),
    /** What a person runs to find out more: in a terminal of the host, or as a request. */
    diagnosticCommands: z.array(z.string()),
    remediation: z.array(z.string()),
  })
  .meta({ id: 'AgentSupportRow' });
export type AgentSupportRow = z.infer<typeof agentSupportRow>;

export const agentSupport = z.object({ agents: z.array(agentSupportRow), nextCursor }).meta({ id: 'AgentSupport' });

/** Failures of one provider that are listed; the counts are of all. */
export const maxProviderFailures = 100;

/**
 * Whether agents of one provider can be started. `healthy`: on every host that has probed them; `degraded`: on some; `unavailable`:
 * on none; `unknown`: no host has probed them; `unused`: no enabled agent has it.
 */
export const providerHealth = z.object({
  provider: z.enum(['process', 'acp', 'remote-callback']),
  status: z.enum(['healthy', 'degraded', 'unavailable', 'unknown', 'unused']),
  agents: z.object({ configured: z.number().int(), enabled: z.number().int() }),
  /** Agents on hosts: those that were probed, and those that could be started. */
  probes: z.object({ total: z.number().int(), usable: z.number().int(), openCircuits: z.number().int() }),
  checkedAt: timestamp.nullable(),
  failures: z
    .array(agentSupportRow.pick({ agentType: true, hostId: true, failureClass: true, reason: true, remediation: true }))
    .max(maxProviderFailures),
});
export type ProviderHealth = z.infer<typeof providerHealth>;

export const providerHealthReport = z
  .object({ generatedAt: timestamp, providers: z.array(providerHealth) })
  .meta({ id: 'ProviderHealthReport' });
