import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { evaluated, globalScope, type Usage } from '../../../domain/admission/capacity';
import { type Lane, type Page, type Plan, schedule, type WorkspaceTurn } from '../../../domain/admission/schedule';
import type { StreamPage } from '../../../stores/runs/admission/queue-lanes';
import type { QueueRecord, QueueStore } from '../../../stores/runs/admission/queue-store';
import type { HostCapacity, HostStore } from '../../../stores/runs/hosts/host-store';
import { hostRuns } from './host-runs';
import { laneIdOf, queueView } from './queue-view';

/** The launches that may start now, in order. */
export interface Choice {
  picks: Plan['picks'];
  turn: WorkspaceTurn | undefined;
  /** Whether the ceiling of the whole board is reached. */
  isFull: boolean;
  /** Records what blocks the others. */
  recordBlocked(): Promise<void>;
}

export interface ChoiceSources {
  queue: Pick<QueueStore, 'streams' | 'moreOfStream' | 'lanesOn' | 'more' | 'limit' | 'limitLane'>;
  hosts: Pick<HostStore, 'capacityOf'>;
  /** The live hosts, as they were a moment ago. */
  capacities: ReadonlyMap<string, HostCapacity>;
  /** The ids of those trees of these entries that do not grow now. */
  closedTrees: (entries: readonly QueueRecord[]) => Promise<Set<string>>;
}

interface Situation {
  usage: Usage;
  turn: WorkspaceTurn | undefined;
  now: Date;
}

/** How many entries of a lane are read at once when its first ones are blocked: twice as many each time. */
const firstRead = 32;
const maxRead = 512;
/** How many entries behind the first ones of the streams are checked besides those that are chosen. */
const maxBlocked = 64;

/**
 * Chooses which of the queued launches start now, in the order of the queue.
 *
 * Reads the streams first: where few entries are blocked, those that are chosen are at their beginning, however many hosts and
 * entries there are. Where many are, it reads the lanes of the hosts that have capacity, and of the others only the entries that
 * it has read already: they are the first of their workspaces, which have capacity reserved once they are overdue.
 */
export async function chooseNext(
  sources: ChoiceSources,
  settings: AdmissionSettings,
  situation: Situation,
): Promise<Choice> {
  const { queue } = sources;
  const view = queueView(sources, settings, situation.now);
  const scheduling = { ...situation, settings: settings.queue.scheduler, now: situation.now.getTime() };
  /** By stream, whether an entry could be checked, or all were read. */
  const known = new Map<string, boolean>();
  const plan = (await byStreams(await queue.streams())) ?? (await byLanes());
  return {
    ...{ picks: plan.picks, turn: plan.turn },
    isFull: plan.full.some(({ policies }) => policies.some(({ scope }) => scope === 'global')),
    async recordBlocked() {
      await view.recordTrees();
      await limitBlocked(plan.blocked);
      for (const { laneId, policies } of plan.full) {
        await limitLane(laneId, policies);
      }
    },
  };

  /** `undefined` when too many entries are blocked. */
  async function byStreams(pages: StreamPage[]): Promise<Plan | undefined> {
    const streams = new Map(pages.map((page) => [idOf(page), page]));
    await view.read(pages.flatMap(({ entries }) => entries));
    const first = pages.map((page): Lane => ({
      id: idOf(page),
      laneOf: ({ id }) => view.laneOf(id),
      ...view.pageOf(page),
    }));
    const skip = new Map(pages.map((page) => [idOf(page), page.entries.length]));
    let left = settings.queue.scheduler.evaluationLimit + maxBlocked;
    return planned(first, async (id) => {
      const stream = streams.get(id);
      const read = skip.get(id) ?? 0;
      if (!stream || left <= 0) {
        return undefined;
      }
      const page = await queue.moreOfStream(stream, read, Math.min(left, Math.max(firstRead, read)));
      left -= page.entries.length;
      skip.set(id, read + page.entries.length);
      await view.read(page.entries);
      return checked(page);
    });
  }

  function checked(stream: StreamPage): Page {
    const page = view.pageOf(stream);
    const id = idOf(stream);
    known.set(id, known.get(id) === true || page.entries.length > 0 || page.isLast);
    return page;
  }

  async function byLanes(): Promise<Plan> {
    const read = view.lanesOf((hostId) => !hasCapacity(hostId));
    // Where the first of a workspace cannot be known from its stream, the lanes of all hosts have them.
    const isWanted = [...known.values()].includes(false) && hasNarrowCeilings(settings) ? takesWork : hasCapacity;
    const wanted = [...sources.capacities.keys()].filter(isWanted);
    const pages = [...read, ...(await queue.lanesOn([null, ...wanted]))];
    const lanes = new Map(pages.map((page) => [laneIdOf(page), page]));
    await view.read(pages.flatMap(({ entries }) => entries));
    const first = [...lanes].map(([id, page]): Lane => ({ id, ...view.pageOf(page) }));
    const skip = new Map(pages.map((page) => [laneIdOf(page), page.entries.length]));
    const plan = await planned(first, async (id) => {
      const lane = lanes.get(id);
      if (!lane) {
        return { entries: [], isLast: true };
      }
      const from = skip.get(id) ?? 0;
      const page = await queue.more(lane, from, Math.min(maxRead, Math.max(firstRead, from)));
      skip.set(id, from + page.entries.length);
      await view.read(page.entries);
      return view.pageOf(page);
    });
    return plan ?? { picks: [], blocked: [], full: [], turn: situation.turn };
  }

  /** @param more the next entries of a lane or stream; `undefined` ends the choice without a plan */
  async function planned(first: Lane[], more: (id: string) => Promise<Page | undefined>): Promise<Plan | undefined> {
    const choosing = schedule(first, scheduling);
    let step = choosing.next();
    while (!step.done) {
      const page = await more(step.value);
      if (!page) {
        return undefined;
      }
      step = choosing.next(page);
    }
    return step.value;
  }

  function takesWork(hostId: string): boolean {
    return sources.capacities.get(hostId)?.takesWork === true;
  }

  /** Whether any launch may start there. */
  function hasCapacity(hostId: string | null): boolean {
    const host = hostId === null ? undefined : sources.capacities.get(hostId);
    return (
      hostId === null || (host?.takesWork === true && hostRuns(settings, situation.usage, { hostId, ...host }).free > 0)
    );
  }

  async function limitBlocked(blockedEntries: Plan['blocked']): Promise<void> {
    for (const { id, policies } of blockedEntries.slice(0, settings.queue.scheduler.evaluationLimit)) {
      const [limiting] = policies;
      const entry = view.entry(id);
      const same = entry?.limitingKey === limiting?.key && entry?.limitingPolicies.length === policies.length;
      if (limiting && !same) {
        await queue.limit(id, limiting.key, policies.map(evaluated));
      }
    }
  }

  /**
   * The rest of a lane waits for what its first entry waits for. Under the whole board's ceiling they are not updated: it fills
   * and frees with every run. But a host that is back is recorded.
   */
  async function limitLane(laneId: string, policies: Plan['full'][number]['policies']): Promise<void> {
    const entries = view.entriesIn(laneId);
    const [first] = entries;
    const [limiting] = policies;
    if (!first || !limiting) {
      return;
    }
    const isBack = entries.some(({ limitingPolicies }) => limitingPolicies.some(({ limit }) => limit === 0));
    if (limiting.key === globalScope.key && !isBack) {
      return;
    }
    await queue.limitLane(first, limiting.key, policies.map(evaluated));
  }
}

/** Whether a launch that waits for its host may lack what its own workspace or root task has as well. */
const hasNarrowCeilings = ({ limits }: AdmissionSettings): boolean =>
  [limits.workspace, limits.rootTask].some((ceiling) => Object.values(ceiling).some((limit) => limit !== null));

const idOf = ({ state, workspaceId, priority }: StreamPage): string => `${state} ${workspaceId} ${priority}`;
