import { z } from 'zod';
import { type RunRecord, type Usage, usage } from '../runs/run';

const model = z.object({ id: z.string() });
const totals = usage.extend({ runtime_secs: z.number() });
const modelUsage = z.object({ model, stages: z.number().int(), usage });
export type ModelUsage = z.infer<typeof modelUsage>;

/** What a run has used so far: its stages that asked a model, their sums, and the same by model. */
export const runUsage = z
  .object({
    stages: z.array(
      z.object({ stage: z.object({ id: z.string(), name: z.string() }), model, usage, runtime_secs: z.number() }),
    ),
    totals,
    by_model: z.array(modelUsage),
  })
  .meta({ id: 'RunUsage' });
export type RunUsage = z.infer<typeof runUsage>;

/** What all runs that have ended have used. */
export const aggregateUsage = z
  .object({ totals: totals.extend({ runs: z.number().int() }), by_model: z.array(modelUsage) })
  .meta({ id: 'AggregateUsage' });
export type AggregateUsage = z.infer<typeof aggregateUsage>;

export const noUsage: AggregateUsage = {
  totals: { runs: 0, runtime_secs: 0, input_tokens: 0, output_tokens: 0, cost: 0 },
  by_model: [],
};

/** Sums of decimal fractions: what is below a billionth is noise. */
export const rounded = (value: number): number => Math.round(value * 1e9) / 1e9;

const added = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cost: rounded(a.cost + b.cost),
});

/** The sums for each model, by its id. */
function byModel(parts: readonly ModelUsage[]): ModelUsage[] {
  const sums = new Map<string, ModelUsage>();
  for (const part of parts) {
    const before = sums.get(part.model.id);
    const sum = before && { ...before, stages: before.stages + part.stages, usage: added(before.usage, part.usage) };
    sums.set(part.model.id, sum ?? part);
  }
  return [...sums.values()].sort((a, b) => (a.model.id < b.model.id ? -1 : 1));
}

/** Its `runtime_secs` is what the stages took one by one: branches that ran side by side add up. */
export function usageOf({ stages }: Pick<RunRecord, 'stages'>): RunUsage {
  const used = stages.flatMap(({ id, name, model, usage, duration_secs = 0 }) =>
    model !== undefined && usage
      ? { stage: { id, name }, model: { id: model }, usage, runtime_secs: duration_secs }
      : [],
  );
  const sum = used.reduce<Usage>((total, stage) => added(total, stage.usage), {
    input_tokens: 0,
    output_tokens: 0,
    cost: 0,
  });
  return {
    stages: used,
    totals: { ...sum, runtime_secs: rounded(used.reduce((total, { runtime_secs }) => total + runtime_secs, 0)) },
    by_model: byModel(used.map(({ model, usage }) => ({ model, stages: 1, usage }))),
  };
}

/** The same sums with one more run in them. */
export function withRun({ totals, by_model }: AggregateUsage, run: RunUsage): AggregateUsage {
  return {
    totals: {
      ...added(totals, run.totals),
      runtime_secs: rounded(totals.runtime_secs + run.totals.runtime_secs),
      runs: totals.runs + 1,
    },
    by_model: byModel([...by_model, ...run.by_model]),
  };
}
