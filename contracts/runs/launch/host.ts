import { z } from 'zod';
import { timestamp } from '../../common';
import { listPage, nextCursor } from '../../query';
import { launchFinding } from './manifest';

export const hostId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);

/** Why a host takes no new runs, and since when. */
const drain = z.object({ at: timestamp, by: z.string(), reason: z.string().nullable() });

const hostWorker = z.object({
  workerId: z.string(),
  seenAt: timestamp,
  /** How many runs it executes at a time. */
  runs: z.number().int(),
  /** It takes no new work: it ends, or its host is drained. */
  draining: z.boolean(),
  /** The release that it runs; null for one before this was announced. */
  version: z.string().nullable(),
  /** Its version of the worker deployment (`BOARD_WORKER_BUILD_ID`); null where it is of none. */
  buildId: z.string().nullable(),
});

export const hostSummary = z
  .object({
    hostId: z.string(),
    hostname: z.string(),
    seenAt: timestamp,
    /** What runs lack there: no git, an old one, no directory for worktrees. */
    findings: z.array(launchFinding),
    /** Those that are live. */
    workers: z.array(hostWorker),
    /** Run slots that were reserved when it was last announced. */
    reservedRuns: z.number().int(),
    /** Null for one that takes new runs. */
    drain: drain.nullable(),
  })
  .meta({ id: 'Host' });
export type HostSummary = z.infer<typeof hostSummary>;

export const hostQuery = z.strictObject(listPage(1000, 1000));
export const hostList = z.object({ hosts: z.array(hostSummary), nextCursor }).meta({ id: 'HostList' });

export const hostDrain = z
  .strictObject({ reason: z.string().trim().min(1).max(500).optional() })
  .meta({ id: 'HostDrain' });
