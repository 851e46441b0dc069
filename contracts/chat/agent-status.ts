import { z } from 'zod';
import { taskId, text, timestamp } from '../common';

export const agentState = z.enum(['idle', 'working', 'thinking', 'sub-agent', 'error']).meta({ id: 'AgentState' });
export type AgentState = z.infer<typeof agentState>;

const activeTask = z.strictObject({ id: taskId, title: text(200).optional() });

/** One who works. `attemptId` is that of its run, where it has one. */
const activeAgent = z.object({
  agent: z.string(),
  status: z.string(),
  taskId: taskId.optional(),
  taskTitle: z.string().optional(),
  attemptId: z.string().optional(),
  startedAt: timestamp.optional(),
});

/** A caller's report about agents; it replaces the former one. */
export const agentStatusReport = z
  .strictObject({
    status: agentState,
    activeTask: activeTask.optional(),
    subAgentCount: z.number().int().min(0).max(1000).default(0),
    activeAgents: z
      .array(
        z.strictObject({
          agent: text(100, 1),
          status: text(50, 1).default('working'),
          taskId: taskId.optional(),
          taskTitle: text(200).optional(),
          startedAt: timestamp.optional(),
        }),
      )
      .max(200)
      .default([]),
    errorMessage: text(2000).optional(),
  })
  .meta({ id: 'AgentStatusReport' });
export type AgentStatusReport = z.output<typeof agentStatusReport>;

/** Who works now: the last report and the runs of the board together. */
export const agentStatus = z
  .object({
    status: agentState,
    activeTask: activeTask.optional(),
    subAgentCount: z.number().int(),
    activeAgents: z.array(activeAgent),
    /** When the last report came; absent before the first. */
    lastUpdated: timestamp.optional(),
    errorMessage: z.string().optional(),
  })
  .meta({ id: 'AgentStatus' });
export type AgentStatus = z.infer<typeof agentStatus>;

/** An agent did what was to be delegated, or delegated what it was to do. */
export const delegationViolation = z
  .strictObject({
    /** By default the caller. */
    agent: text(100, 1).optional(),
    rule: text(200, 1),
    taskId: taskId.optional(),
    message: text(2000).optional(),
  })
  .meta({ id: 'DelegationViolation' });

export const delegationViolationRecorded = z.object({ recorded: z.literal(true), agent: z.string(), rule: z.string() });
