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
    adapterId: z.string(),
    transport: z.enum(['process-jsonl', 'acp', 'http-tools']),
    supportTier: z.enum(['detected', 'configured', 'degraded', 'unsupported']),
    reason: z.string(),
    failureClass: z.enum(['none', 'disabled', 'not-installed', 'probe-failed', 'launch-failed']),
    checkedAt: timestamp.nullable(),
    executableFound: z.boolean().nullable(),
    /** Unknown: an agent's login shows when it is started. */
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
    remediation: z.array(z.string()),
  })
  .meta({ id: 'AgentSupportRow' });
export type AgentSupportRow = z.infer<typeof agentSupportRow>;

export const agentSupport = z.object({ agents: z.array(agentSupportRow), nextCursor }).meta({ id: 'AgentSupport' });
