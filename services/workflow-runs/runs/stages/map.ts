import { cut } from '../../../../platform/text/cut';
import { type GraphNode, type MapNode, maxJsonOutput } from '../../graph/graph';
import { valueAt } from '../../graph/values';
import { SuspendedError } from '../execution/continuation';
import type { ItemUnderWay, MapUnderWay, StageUnderWay } from '../execution/cursor';
import type { Outcome } from '../execution/edges';
import type { MapLists } from '../execution/progress-state';
import type { StageContext, Worked } from '../execution/stages';
import { assertFewStages, assertWithinBudget, assertWithinTree, untilMayBegin } from './may-begin';

/** A list may have this much as JSON, in characters. */
const maxListCharacters = 100_000;
/** An output that is a text may have this much, or an even part of what all of them may have. */
const maxText = 8_000;
const reasonCharacters = 200;

export interface MapContext extends StageContext {
  perform: (node: GraphNode, underWay: StageUnderWay, run: StageContext) => Promise<Outcome>;
}

/**
 * Does the work of a node for each item of a list, several at a time. Its output is the list of theirs, in the same order, with
 * null where an item failed.
 */
export async function runMap(node: GraphNode, underWay: StageUnderWay, run: MapContext): Promise<Worked> {
  const { progress, walkers, values } = run;
  const { map } = node;
  if (!map) {
    throw new Error(`${node.id} is no map.`);
  }
  const { stage } = underWay;
  const lists = progress.lists.get(stage.id) ?? { items: listOf(map, values.all()), outputs: [] };
  if (!underWay.map) {
    progress.record({ MapStarted: { stage_id: stage.id, items: lists.items.length } }, stage.id);
  }
  progress.lists.set(stage.id, lists);
  underWay.map ??= { next: 0, failures: [], items: [] };
  const items = new Items(node, { state: underWay.map, lists, run, underWay });
  await progress.flush();
  const lanes = [...underWay.map.items, ...Array<undefined>(map.concurrency).fill(undefined)].slice(0, map.concurrency);
  const ended = await walkers.rest(() =>
    Promise.allSettled(lanes.map((resumed) => walkers.count(() => items.walk(resumed)))),
  );
  const broken = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
  const error = broken.find((each) => !(each instanceof SuspendedError)) ?? broken[0];
  if (!(error instanceof SuspendedError)) {
    progress.lists.delete(stage.id);
  }
  if (error) {
    throw error;
  }
  return worked(node, underWay.map, { lists, run, stageId: stage.id });
}

/** @throws Error when the value is no list, or one that is too long */
function listOf({ items: path, maxItems }: MapNode, values: Readonly<Record<string, unknown>>): unknown[] {
  const list = valueAt(values, path);
  const name = path.join('.');
  if (!Array.isArray(list)) {
    throw new Error(`${name} is no list.`);
  }
  if (list.length > maxItems) {
    throw new Error(`${name} has ${list.length} items, and the map takes ${maxItems}.`);
  }
  if (JSON.stringify(list).length > maxListCharacters) {
    throw new Error(`${name} has more than ${maxListCharacters} characters.`);
  }
  return list;
}

interface Surroundings {
  state: MapUnderWay;
  lists: MapLists;
  run: MapContext;
  underWay: StageUnderWay;
}

/** The items of one visit of a map. */
class Items {
  readonly #mapped: GraphNode;
  readonly #map: MapNode;
  #characters: number;

  constructor(
    node: GraphNode,
    private readonly around: Surroundings,
  ) {
    const { map, ...rest } = node;
    this.#map = map as MapNode;
    this.#mapped = { ...rest, kind: this.#map.each };
    this.#characters = JSON.stringify(around.lists.outputs).length;
  }

  /** Does one item after the other until none is left: first the one that an earlier execution has begun. */
  async walk(resumed?: ItemUnderWay): Promise<void> {
    for (let item = resumed ?? (await this.#next()); item; item = await this.#next()) {
      await this.#perform(item);
    }
  }

  #isOver(): boolean {
    const { state, lists } = this.around;
    return (
      state.stopped !== undefined || state.failures.length > this.#map.maxFailures || state.next >= lists.items.length
    );
  }

  async #next(): Promise<ItemUnderWay | undefined> {
    const { state, run, underWay } = this.around;
    if (this.#isOver()) {
      return undefined;
    }
    await untilMayBegin(run);
    assertFewStages(run);
    assertWithinBudget(this.#mapped, run);
    await assertWithinTree(this.#mapped, run);
    // Another lane may have begun the last one meanwhile.
    if (this.#isOver()) {
      return undefined;
    }
    const index = state.next;
    state.next += 1;
    const item = { index, stage: run.progress.beginItem(underWay.stage, index, this.#map.each) };
    state.items.push(item);
    return item;
  }

  async #perform(item: ItemUnderWay): Promise<void> {
    const { state, lists, run } = this.around;
    const { index } = item;
    let output: unknown = null;
    const values = {
      all: () => ({ ...run.values.all(), item: lists.items[index], item_index: index }),
      set: (set: Record<string, unknown>) => void (output = set[`${this.#mapped.id}_output`] ?? null),
    };
    const end = (): void => void (state.items = state.items.filter((each) => each !== item));
    try {
      const { outcome, reason = 'It failed.' } = await run.perform(this.#mapped, item, { ...run, values });
      end();
      if (outcome === 'fail') {
        state.failures.push({ index, error: cut(reason, reasonCharacters) });
      } else {
        this.#store(index, output);
      }
    } catch (error) {
      if (!(error instanceof SuspendedError)) {
        end();
      }
      throw error;
    }
  }

  #store(index: number, output: unknown): void {
    const { state, lists } = this.around;
    const share = Math.floor(maxJsonOutput / lists.items.length) - 1;
    const stored = typeof output === 'string' ? fitted(cut(output, maxText), share) : output;
    this.#characters += JSON.stringify(stored).length + 1;
    if (this.#characters > maxJsonOutput) {
      state.stopped = `The outputs of its items have more than ${maxJsonOutput} characters together.`;
      return;
    }
    lists.outputs[index] = stored;
  }
}

/** The beginning of a text that has so many characters as JSON. */
function fitted(text: string, share: number): string {
  let fitting = text;
  const excessOf = (): number => JSON.stringify(fitting).length - share;
  for (let excess = excessOf(); excess > 0; excess = excessOf()) {
    fitting = cut(fitting, Math.max(0, fitting.length - Math.ceil(excess / 6)));
  }
  return fitting;
}

function worked(
  { id, map }: GraphNode,
  { failures, stopped }: MapUnderWay,
  {
    lists: { items, outputs },
    run: { progress, values },
    stageId,
  }: { lists: MapLists; run: MapContext; stageId: string },
): Worked {
  const list = items.map((_item, index) => outputs[index] ?? null);
  const failed = failures.toSorted((a, b) => a.index - b.index);
  progress.record({ MapCompleted: { stage_id: stageId, failed: failed.length } }, stageId);
  if (stopped === undefined) {
    values.set({ [`${id}_output`]: list, last_output: list, [`${id}_failures`]: failed });
  }
  const tooMany = failed.length > (map?.maxFailures ?? 0);
  const [first] = failed;
  const reason =
    stopped ??
    (tooMany && first
      ? `Item ${first.index} failed: ${first.error} (${failed.length} of ${items.length} items failed.)`
      : undefined);
  const notes = `${items.length - failed.length} of ${items.length} items`;
  return reason === undefined
    ? { outcome: { outcome: 'success' }, reported: { notes } }
    : { outcome: { outcome: 'fail', reason }, reported: { failure_reason: reason } };
}
