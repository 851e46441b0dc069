import { z } from 'zod';
import { smoothness, stageStatus } from '../runs/run';

const frictionKind = z.enum(['retry', 'timeout', 'wrong_approach', 'tool_failure', 'ambiguity']);
export type FrictionKind = z.infer<typeof frictionKind>;

/** Something that did not go as it should have. */
export const frictionPoint = z.object({
  kind: frictionKind,
  description: z.string(),
  stage_id: z.string().optional(),
});
export type FrictionPoint = z.infer<typeof frictionPoint>;

/** Something that is left to do. */
export const openItem = z.object({
  kind: z.enum(['tech_debt', 'follow_up', 'investigation', 'test_gap']),
  description: z.string(),
});
export type OpenItem = z.infer<typeof openItem>;

export const retroStats = z.object({
  total_duration_ms: z.number().int(),
  /** USD; absent when no stage has a cost. */
  total_cost: z.number().optional(),
  total_retries: z.number().int(),
  files_touched: z.array(z.string()),
  stages_completed: z.number().int(),
  stages_failed: z.number().int(),
});
export type RetroStats = z.infer<typeof retroStats>;

export const stageRetro = z.object({
  stage_id: z.string(),
  stage_label: z.string(),
  status: stageStatus,
  duration_ms: z.number().int(),
  retries: z.number().int(),
  cost: z.number().optional(),
  notes: z.string().optional(),
  failure_reason: z.string().optional(),
  files_touched: z.array(z.string()),
});

/** What is to be learnt from a run that has ended. What its record does not have is absent. */
export const retroDetail = z
  .object({
    run_id: z.string(),
    workflow_name: z.string(),
    goal: z.string(),
    timestamp: z.string(),
    smoothness: smoothness.optional(),
    stages: z.array(stageRetro),
    stats: retroStats,
    intent: z.string().optional(),
    outcome: z.string().optional(),
    learnings: z
      .array(z.object({ category: z.enum(['repo', 'code', 'workflow', 'tool']), text: z.string() }))
      .optional(),
    friction_points: z.array(frictionPoint).optional(),
    open_items: z.array(openItem).optional(),
  })
  .meta({ id: 'RetroDetail' });
export type RetroDetail = z.infer<typeof retroDetail>;

/** A retro as lists show it. */
export const retroItem = z.object({
  run: z.object({ id: z.string(), title: z.string() }),
  workflow: z.object({ slug: z.string() }),
  timestamp: z.string(),
  smoothness: smoothness.optional(),
  stats: retroStats,
  friction_point_count: z.number().int(),
});
export type RetroItem = z.infer<typeof retroItem>;
