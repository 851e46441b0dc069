import { z } from 'zod';
import { type RunRecord, type Usage, usage } from '../runs/run';
import { nothingUsed, rounded, summedUsage } from './sum';

const model = z.object({ id: z.string() });
const unpriced_stages = z
  .number()
  .int()
  .optional()
  .meta({ description: 'Stages whose cost is not known and not in the sum; absent without any' });
const totals = usage.extend({ runtime_secs: z.number(), unpriced_stages });
const modelUsage = z.object({ model, stages: z.number().int(), usage: usage.extend({ unpriced_stages }) });
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

const unpricedIn = (...parts: { unpriced_stages?: number | undefined }[]): { unpriced_stages?: number } => {
  const count = parts.reduce((sum, { unpriced_stages = 0 }) => sum + unpriced_stages, 0);
  return count === 0 ? {} : { unpriced_stages: count };
};

type Summed = Usage & { unpriced_stages?: number | undefined };

const ofStage = ({ cost }: Usage) => ({ unpriced_stages: cost === null ? 1 : 0 });

const summed = (a: Summed, b: Summed): Summed => ({ ...summedUsage(a, b), ...unpricedIn(a, b) });

/** The sums for each model, by its id. */
function byModel(parts: readonly ModelUsage[]): ModelUsage[] {
  const sums = new Map<string, ModelUsage>();
  for (const part of parts) {
    const before = sums.get(part.model.id);
    const sum = before && { ...before, stages: before.stages + part.stages, usage: summed(before.usage, part.usage) };
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
  const priced = used.map(({ model, usage }) => ({ model, usage: { ...usage, ...unpricedIn(ofStage(usage)) } }));
  const sum = priced.reduce<Summed>((total, stage) => summed(total, stage.usage), nothingUsed);
  return {
    stages: used,
    totals: { ...sum, runtime_secs: rounded(used.reduce((total, { runtime_secs }) => total + runtime_secs, 0)) },
    by_model: byModel(priced.map((each) => ({ ...each, stages: 1 }))),
  };
}

/** The same sums with one more run in them. */
export function withRun({ totals, by_model }: AggregateUsage, run: RunUsage): AggregateUsage {
  return {
    totals: {
      ...summed(totals, run.totals),
      runtime_secs: rounded(totals.runtime_secs + run.totals.runtime_secs),
      runs: totals.runs + 1,
    },
    by_model: byModel([...by_model, ...run.by_model]),
  };
}
