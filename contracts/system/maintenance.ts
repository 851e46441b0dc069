import { z } from 'zod';
import { text } from '../common';
import { installDecision } from '../knowledge/skills/skill-scan';
import { listPage, moment, nextCursor } from '../query';
import { features } from '../settings/settings';
import { overallStatus, partStatus } from './health';

const count = z.number().int().nonnegative();

export const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
export type LogLevel = z.infer<typeof logLevel>;

/** A line of the log of this process, without secrets. */
export const logEntry = z.object({
  /** 1, 2, 3 … since the process began. */
  sequence: count,
  time: z.iso.datetime().nullable(),
  level: logLevel.nullable(),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()),
});
export type LogEntry = z.infer<typeof logEntry>;

export const logQuery = z
  .strictObject({
    /** The least level. */
    level: logLevel.optional(),
    since: moment.optional(),
    /** Part of the line, whatever its case. */
    q: text(200, 1).optional(),
    ...listPage(100, 1000),
  })
  .meta({ id: 'LogQuery' });
export type LogQuery = z.output<typeof logQuery>;

/** The latest lines of the replica that answers; each has its own. */
export const logPage = z
  .object({ startedAt: z.iso.datetime(), entries: z.array(logEntry), nextCursor })
  .meta({ id: 'LogPage' });

/** The state of everything, in numbers. */
export const maintenanceSummary = z
  .object({
    generatedAt: z.iso.datetime(),
    status: overallStatus,
    version: z.string(),
    uptimeMs: count,
    parts: z.record(z.string(), z.object({ status: partStatus, reason: z.string().optional() })),
    tasks: z.record(z.string(), count),
    queue: z.object({ depth: count }),
    hosts: z.object({ live: count }),
    skills: z.object({ total: count, decisions: z.record(installDecision, count), truncated: z.boolean() }),
    retention: features.shape.retention,
    /** Lines of this replica that can be read. */
    logs: z.object({ lines: count, warnings: count, errors: count }),
  })
  .meta({ id: 'MaintenanceSummary' });

/** What a person who helps has to know, and nothing that opens anything. */
export const debugBundle = z
  .object({
    schemaVersion: z.literal('debug-bundle/v1'),
    summary: maintenanceSummary,
    process: z.object({
      node: z.string(),
      platform: z.string(),
      arch: z.string(),
      startedAt: z.iso.datetime(),
      memory: z.record(z.string(), count),
    }),
    /** Numbers and switches as they are; of all other settings only whether they are set. */
    configuration: z.record(z.string(), z.union([z.number(), z.boolean(), z.enum(['set', 'not set'])])),
    features: z.record(z.string(), z.unknown()),
    agents: z.array(z.object({ type: z.string(), provider: z.string(), enabled: z.boolean() })),
    hosts: z.array(z.object({ id: z.string(), seenAt: z.string() })),
    logs: z.array(logEntry),
  })
  .meta({ id: 'DebugBundle' });
export type DebugBundle = z.infer<typeof debugBundle>;
