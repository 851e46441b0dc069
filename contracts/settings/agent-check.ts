import { z } from 'zod';
import { slug, timestamp } from '../common';
import { launchFinding } from '../runs/launch/manifest';
import { observedOffer } from './session-offer';

/** What a check does in turn; each needs the ones before. */
export const checkStep = z.enum(['installed', 'version', 'handshake', 'authentication', 'session']);
export type CheckStep = z.infer<typeof checkStep>;

export const checkFinding = launchFinding.pick({ program: true, searched: true, variable: true }).extend({
  step: checkStep,
  status: z.enum(['ok', 'failed', 'skipped']),
  /** What was found, or why the step was left out; never contains secrets. */
  message: z.string(),
  /** What a person can do about a failure. */
  remedy: z.string().nullable(),
});
export type CheckFinding = z.infer<typeof checkFinding>;

export const agentCheckRequest = z
  .strictObject({
    /** A live host; the one that a launch would likely take when absent. */
    hostId: z.string().min(1).max(200).optional(),
  })
  .meta({ id: 'AgentCheckRequest' });

/** What a host found when it started an agent without giving it work. */
export const agentCheck = z
  .object({
    agentType: slug,
    hostId: z.string(),
    checkedAt: timestamp,
    /** Whether no step failed. */
    ok: z.boolean(),
    findings: z.array(checkFinding),
    /** Models and modes that its session offers; absent without a session. */
    offer: observedOffer.optional(),
  })
  .meta({ id: 'AgentCheck' });
export type AgentCheck = z.infer<typeof agentCheck>;
