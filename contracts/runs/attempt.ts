import { z } from 'zod';
import { attemptId, commitPolicy, phase, slug, taskId, timestamp } from '../common';
import { runUsage } from '../system/telemetry';
import { completionResult } from './completion';
import { conversationSource } from './conversation';
import { type baselineFile, providerRuntimeManifest, recordedTaskEnvelope } from './launch/contract';
import { recordedLaunchManifest } from './launch/manifest';

/**
 * Where an attempt is between its admission and its end. `dispatched` is the point of no return: only the worker that moves an
 * attempt there starts the agent.
 */
export const attemptState = z.enum(['queued', 'admitted', 'prepared', 'dispatched', 'running', 'ended', 'refused']);
export type AttemptState = z.infer<typeof attemptState>;
export const activeAttemptStates: AttemptState[] = ['queued', 'admitted', 'prepared', 'dispatched', 'running'];

/** An agent process as the kernel identifies it: a pid alone may belong to another process since. */
export const processIdentity = z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() });

/** A baseline as its host needs it to restore the worktree; the envelope has the part that concerns agents. */
export interface HostBaseline {
  attemptId: string;
  headSha: string;
  branch: string | null;
  dirty: boolean;
  files: z.infer<typeof baselineFile>[];
  truncated: boolean;
  snapshot: { ref: string; commit: string };
  gitDir: string;
  identity?: { device: string; inode: string; born: string };
}

/** Why a launch was refused. */
export const launchRefusalReason = z.object({ code: z.string(), message: z.string() });

/** One attempt, as callers see it. */
export const attempt = z
  .object({
    schemaVersion: z.literal('attempt/v1'),
    id: attemptId,
    taskId,
    rootAttemptId: attemptId,
    parentAttemptId: attemptId.optional(),
    retryNumber: z.number().int().min(0),
    conversation: conversationSource.optional(),
    agent: slug,
    provider: z.string(),
    phase,
    commitPolicy,
    state: attemptState,
    revision: z.number().int(),
    hostId: z.string().nullable(),
    createdAt: timestamp,
    createdBy: z.string(),
    startedAt: timestamp.optional(),
    endedAt: timestamp.optional(),
    /** When its events were purged, but for the one of its end. */
    eventsPurgedAt: timestamp.optional(),
    completion: completionResult.optional(),
    /** What it used, once it has ended. */
    usage: runUsage.optional(),
    /** Why it was not launched, in the state `refused`. */
    refusal: launchRefusalReason.optional(),
  })
  .meta({ id: 'Attempt' });
export type Attempt = z.infer<typeof attempt>;

export const runControl = z.object({
  action: z.string(),
  label: z.string(),
  capabilityId: z.string(),
  state: z.enum(['supported', 'advisory', 'unsupported', 'unknown']),
  available: z.boolean(),
  advisory: z.boolean(),
  reason: z.string().optional(),
});

/** `GET /api/agents/:taskId/status`: the attempt that has the task, else the latest launched one, with its contract. */
export const runStatus = z
  .object({
    taskId,
    running: z.boolean(),
    attemptId: attemptId.nullable(),
    agent: slug.nullable(),
    provider: z.string().nullable(),
    state: attemptState.nullable(),
    attempt: attempt.nullable(),
    /** Of an attempt that did not succeed: why, in one line, and where the last lines of its log are. */
    failure: z.object({ cause: z.string(), log: z.string() }).optional(),
    providerRuntimeManifest: providerRuntimeManifest.nullable(),
    runLaunchManifest: recordedLaunchManifest.nullable(),
    taskEnvelope: recordedTaskEnvelope.nullable(),
    lastSequence: z.number().int(),
    controls: z.object({
      manifestDigest: z.string().nullable(),
      probeState: z.string().nullable(),
      controls: z.array(runControl),
    }),
  })
  .meta({ id: 'RunStatus' });

export const stopRequest = z.strictObject({ attemptId }).meta({ id: 'StopRequest' });
export const stopResponse = z
  .object({ attemptId, status: z.string(), stoppedAt: timestamp })
  .meta({ id: 'StopAnswer' });
export const completionReceived = z.object({ received: z.literal(true) }).meta({ id: 'CompletionReceived' });
