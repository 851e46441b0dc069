import fc from 'fast-check';
import type { AdmissionScope, Capacity } from '../../contracts/runs/admission';
import type { SchedulerSettings } from '../../contracts/settings/settings';
import { blockedBy, type CapacityPolicy, minus, nothing, plus, type Usage } from './capacity';
import { laneOf } from './lane';
import { type Candidate, effectivePriority, type Lane, type Plan, schedule, type WorkspaceTurn } from './schedule';

const settings: SchedulerSettings = {
  levels: 4,
  defaultPriority: 1,
  agingMs: 1_000,
  maxPromotions: 3,
  workspaceBurst: 2,
  evaluationLimit: 32,
};

const scopes = (...names: AdmissionScope[]): Candidate['scopes'] => names.map((scope) => ({ scope, key: scope }));
const policy = (key: string, limit: number, scope: AdmissionScope = 'global'): CapacityPolicy => ({
  policy: `${scope}.runs`,
  scope,
  scopeId: key,
  resource: 'runs',
  limit,
  key,
});

const entry = (id: string, fields: Partial<Candidate> & { runs?: number } = {}): Candidate => {
  const { runs = 1, ...rest } = fields;
  return {
    id,
    workspaceId: 'a',
    priority: 1,
    enqueuedAt: 0,
    requested: { runs, processes: 0, memoryMb: 0 },
    policies: [policy('global', 4)],
    scopes: scopes('global'),
    ...rest,
  };
};

/** The lane it waits in. */
function line(candidate: Candidate): string {
  const hostId = candidate.scopes.find(({ scope }) => scope === 'host')?.key ?? null;
  return laneOf({ ...candidate, provider: 'process', hostId });
}

interface PlanOptions {
  usage?: Usage;
  turn?: WorkspaceTurn;
  now?: number;
  rules?: SchedulerSettings;
  page?: number;
  /** The entries are read as streams of a workspace and priority each, and not as lanes. */
  asStreams?: boolean;
}

/** The entries in their lanes, of which so many are read at a time, and how many had to be read. */
function planOf(
  entries: readonly Candidate[],
  { usage = {}, turn, now = 0, rules = settings, page = 2, asStreams = false }: PlanOptions = {},
): Plan & { shown: number } {
  const lines = new Map<string, Candidate[]>();
  for (const each of [...entries].sort((a, b) => a.enqueuedAt - b.enqueuedAt || (a.id < b.id ? -1 : 1))) {
    const id = asStreams ? `${each.workspaceId} ${each.priority}` : line(each);
    lines.set(id, [...(lines.get(id) ?? []), each]);
  }
  let shown = 0;
  const read = new Map<string, number>();
  const next = (id: string) => {
    const from = read.get(id) ?? 0;
    const all = lines.get(id) ?? [];
    read.set(id, from + page);
    const some = all.slice(from, from + page);
    shown += some.length;
    return { entries: some, isLast: from + page >= all.length };
  };
  const first: Lane[] = [...lines.keys()].map((id) => ({ id, ...next(id), ...(asStreams && { laneOf: line }) }));
  const choosing = schedule(first, { usage, turn, settings: rules, now });
  let step = choosing.next();
  while (!step.done) {
    step = choosing.next(next(step.value));
  }
  return { ...step.value, shown };
}

const used = (runs: number): Capacity => ({ ...nothing, runs });
const order = (entries: Candidate[], turn?: WorkspaceTurn, now = 0) =>
  planOf(entries, { turn, now }).picks.map(({ id }) => id);

describe('the schedule of admission', () => {
  it('goes by priority, then by age, then by id, whatever order it is given', () => {
    const entries = [
      entry('late', { enqueuedAt: 5 }),
      entry('b'),
      entry('a'),
      entry('urgent', { priority: 3, enqueuedAt: 9 }),
    ];
    expect(order(entries, undefined, 10)).toEqual(['urgent', 'a', 'b', 'late']);
    expect(order([...entries].reverse(), undefined, 10)).toEqual(['urgent', 'a', 'b', 'late']);
  });

  it('promotes by age, step by step and not beyond the bound', () => {
    const old = entry('old', { priority: 0 });
    const young = (at: number) => entry('young', { priority: 2, enqueuedAt: at });
    expect(order([old, young(1_500)], undefined, 1_500)).toEqual(['young', 'old']);
    expect(order([old, young(2_500)], undefined, 2_500)).toEqual(['old', 'young']);
    const slow = { ...settings, maxPromotions: 1 };
    expect(planOf([old, young(9_000)], { now: 9_000, rules: slow }).picks[0]?.id).toBe('young');
  });

  it('serves workspaces in turns of a burst, and continues where the last look ended', () => {
    const entries = ['a', 'b', 'c'].flatMap((workspaceId) =>
      [1, 2, 3].map((n) => entry(`${workspaceId}${n}`, { workspaceId, policies: [], enqueuedAt: n })),
    );
    expect(order(entries)).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'a3', 'b3', 'c3']);
    expect(order(entries, { workspaceId: 'b', served: 1 }).slice(0, 4)).toEqual(['b1', 'c1', 'c2', 'a1']);
  });

  it('does not let an entry without room hold up the next one that fits, and reports what is in the way', () => {
    const onHost = entry('x', {
      policies: [policy('host', 1, 'host'), policy('global', 4)],
      scopes: scopes('global', 'host'),
    });
    const { picks, blocked, full } = planOf([onHost, entry('y')], { usage: { host: used(1) } });
    expect(picks.map(({ id }) => id)).toEqual(['y']);
    const policies = [expect.objectContaining({ policy: 'host.runs' })];
    expect(blocked).toEqual([{ id: 'x', policies }]);
    expect(full).toEqual([{ laneId: expect.stringContaining('host'), policies }]);
  });

  it('hands out no more than there is, nor more than the bound of one look', () => {
    expect(order(Array.from({ length: 9 }, (_, n) => entry(`e${n}`)))).toHaveLength(4);
    const free = Array.from({ length: 40 }, (_, n) => entry(`e${n}`, { policies: [] }));
    expect(order(free)).toHaveLength(settings.evaluationLimit);
  });

  it('keeps room for an entry that has waited too long, so that small ones cannot pass it for ever', () => {
    const large = entry('large', { runs: 4 });
    const small = entry('small', { enqueuedAt: 2_999 });
    const look = (now: number) => planOf([large, small], { usage: { global: used(1) }, now }).picks.map(({ id }) => id);
    expect(look(2_999)).toEqual(['small']);
    expect(look(3_000)).toEqual([]);
  });

  /** One arrival: after how many ticks, where, how large, how urgent, how long it will run. */
  const arrivals = fc.array(
    fc.record({
      after: fc.integer({ min: 0, max: 2 }),
      workspaceId: fc.constantFrom('a', 'b', 'c'),
      runs: fc.integer({ min: 1, max: 3 }),
      priority: fc.integer({ min: 0, max: 3 }),
      ticks: fc.integer({ min: 1, max: 4 }),
      host: fc.constantFrom('h1', 'h2'),
      task: fc.constantFrom('t1', 't2', 't3'),
    }),
    { minLength: 1, maxLength: 60 },
  );
  type Arrival = typeof arrivals extends fc.Arbitrary<(infer T)[]> ? T : never;

  /** Under four ceilings, of which the root task's is its own and the others are its lane's. */
  function arrived(
    { workspaceId, runs, priority, host, task }: Omit<Arrival, 'after' | 'ticks'>,
    n: number,
    at: number,
  ) {
    const ceilings = [
      policy('global', 5),
      policy(`w-${workspaceId}`, 4, 'workspace'),
      policy(task, 3, 'root-task'),
      policy(host, 3, 'host'),
    ];
    const counted = ceilings.map(({ scope, key }) => ({ scope, key }));
    return entry(`e${String(n).padStart(3, '0')}`, {
      workspaceId,
      runs,
      priority,
      policies: ceilings,
      scopes: counted,
      enqueuedAt: at,
    });
  }

  it('starves no entry: over random arrivals every entry goes within its bound, and no ceiling is ever exceeded', () => {
    const tick = 250;
    const longest = 4;
    const ceilings = 4;
    const overdue = settings.agingMs * settings.maxPromotions;
    fc.assert(
      fc.property(arrivals, (list) => {
        let at = 0;
        const coming = list.map(({ after, ticks, ...rest }, n) => {
          at += after * tick;
          return { ...arrived(rest, n, at), ticks };
        });
        const arrivalsAll = [...coming];
        let waiting: typeof coming = [];
        let running: { entry: (typeof coming)[number]; until: number }[] = [];
        const usage: Record<string, Capacity> = {};
        let turn: WorkspaceTurn | undefined;
        for (let now = 0; coming.length + waiting.length > 0; now += tick) {
          while (coming[0] && coming[0].enqueuedAt <= now) {
            waiting.push(coming.shift()!);
          }
          for (const { entry: ended } of running.filter(({ until }) => until <= now)) {
            for (const { key } of ended.scopes) {
              usage[key] = minus(usage[key]!, ended.requested);
            }
          }
          running = running.filter(({ until }) => until > now);
          const plan = planOf(waiting, { usage, turn, now });
          turn = plan.turn;
          for (const { id } of plan.picks) {
            const picked = waiting.find((each) => each.id === id)!;
            for (const { key } of picked.scopes) {
              usage[key] = plus(usage[key] ?? nothing, picked.requested);
            }
            running.push({ entry: picked, until: now + picked.ticks * tick });
            // Behind every one that came before its promotions were used up, and the turns of the others in between.
            const ahead = arrivalsAll.filter((each) => each.enqueuedAt <= picked.enqueuedAt + overdue).length;
            const bound = overdue + ahead * ceilings * (longest + 1) * tick;
            expect(now - picked.enqueuedAt).toBeLessThanOrEqual(bound);
            for (const { key, limit } of picked.policies) {
              expect(usage[key]!.runs).toBeLessThanOrEqual(limit);
            }
          }
          waiting = waiting.filter(({ id }) => !plan.picks.some((pick) => pick.id === id));
          // No reservation lasts for ever: with nothing running, the first one is dispatched.
          if (running.length === 0) {
            expect(waiting).toEqual([]);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  /**
   * The same choice by checking every entry, one after the other. Capacity is reserved for an entry whose lane has no reservation
   * yet: what has filled up since then is reserved for it in the next pass of the queue.
   */
  function choiceByAll(
    entries: Candidate[],
    { usage, turn, now }: { usage: Usage; turn: WorkspaceTurn | undefined; now: number },
  ): string[] {
    const planned: Record<string, Capacity | undefined> = { ...usage };
    const kept = new Set<string>();
    const spokenFor = new Set<string>();
    const picks: string[] = [];
    let served = turn;
    const ofLevel = (level: number) =>
      entries
        .filter((each) => effectivePriority(each, settings, now) === level)
        .sort((a, b) => a.enqueuedAt - b.enqueuedAt || (a.id < b.id ? -1 : 1));
    for (let level = 3; level >= 0; level -= 1) {
      let last = served;
      for (let left = ofLevel(level); left.length > 0 && picks.length < settings.evaluationLimit;) {
        const names = [...new Set(left.map(({ workspaceId }) => workspaceId))].sort();
        const stays = last && last.served < settings.workspaceBurst && names.includes(last.workspaceId);
        const name: string = stays
          ? last!.workspaceId
          : (names.find((each) => last && each > last.workspaceId) ?? names[0]!);
        if (last?.workspaceId === name && !stays) {
          last = { workspaceId: name, served: 0 };
        }
        const next = left.find(({ workspaceId }) => workspaceId === name)!;
        left = left.filter((each) => each !== next);
        const blocking = blockedBy(next.policies, planned, next.requested);
        const widest = Math.max(...blocking.map(({ scope }) => own.indexOf(scope)));
        const isFirst = !blocking.some(({ scope, key }) => own.indexOf(scope) === widest && kept.has(key));
        const isOverdue = now - next.enqueuedAt >= settings.agingMs * settings.maxPromotions;
        const keeps = blocking.length > 0 && isOverdue && isFirst && !spokenFor.has(line(next));
        if (widest > own.indexOf('root-task')) {
          spokenFor.add(line(next));
        }
        for (const { scope, key } of next.scopes) {
          if (blocking.length > 0 && !(keeps && own.indexOf(scope) <= widest)) {
            continue;
          }
          planned[key] = plus(planned[key] ?? nothing, next.requested);
          if (keeps) {
            kept.add(key);
          }
        }
        if (blocking.length > 0) {
          continue;
        }
        picks.push(next.id);
        last = { workspaceId: name, served: last?.workspaceId === name ? last.served + 1 : 1 };
        served = last;
      }
    }
    return picks;
  }
  const own = ['root-task', 'workspace', 'host', 'provider', 'global'];

  it('chooses from the first of each lane, or of each stream, as if it had compared every entry', () => {
    const when = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(arrivals, when, fc.integer({ min: 1, max: 5 }), fc.nat(3), (list, ticks, page, held) => {
        let at = 0;
        const entries = list.map(({ after, ...rest }, n) => arrived(rest, n, (at += after * 250)));
        const now = at + ticks * 250;
        const usage = Object.fromEntries(['global', 'w-a', 'h1', 't1'].map((key) => [key, used(held)]));
        const turn = held === 0 ? undefined : { workspaceId: 'b', served: held };
        const all = choiceByAll(entries, { usage, turn, now });
        for (const asStreams of [false, true]) {
          const { picks } = planOf(entries, { usage, turn, now, page, asStreams });
          expect(picks.map(({ id }) => id)).toEqual(all);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('reads no more of a queue than it has to, however deep that is', () => {
    const deep = (depth: number, fields: Partial<Candidate> = {}) =>
      Array.from({ length: depth }, (_, n) => entry(`e${n}`, { enqueuedAt: n, ...fields }));
    for (const depth of [10, 1_000]) {
      expect(planOf(deep(depth), { usage: { global: used(3) } })).toMatchObject({ shown: 2, picks: [{ id: 'e0' }] });
      const elsewhere = { policies: [policy('host', 1, 'host')], scopes: scopes('global', 'host') };
      const { shown, picks } = planOf([...deep(depth, elsewhere), entry('fits')], { usage: { host: used(1) } });
      expect([shown, picks.map(({ id }) => id)]).toEqual([3, ['fits']]);
    }
  });

  it('reads the beginning of a stream only, however many lanes it has', () => {
    const entries = Array.from({ length: 500 }, (_, n) =>
      entry(`e${n}`, {
        enqueuedAt: n,
        policies: [policy('global', 4), policy(`h${n}`, 1, 'host')],
        scopes: [...scopes('global'), { scope: 'host' as const, key: `h${n}` }],
      }),
    );
    const { shown, picks } = planOf(entries, { usage: { global: used(3) }, asStreams: true });
    expect([shown, picks.map(({ id }) => id)]).toEqual([2, ['e0']]);
  });

  it('leaves board capacity to others while an entry waits for a ceiling of its own workspace', () => {
    const full = [policy('global', 4), policy('w-a', 1, 'workspace')];
    const counted = [...scopes('global'), { scope: 'workspace' as const, key: 'w-a' }];
    const waiting = Array.from({ length: 9 }, (_, n) => entry(`a${n}`, { policies: full, scopes: counted }));
    const other = ['b1', 'b2'].map((id) => entry(id, { workspaceId: 'b', enqueuedAt: 9_000 }));
    const usage = { global: used(2), 'w-a': used(1) };
    expect(planOf([...waiting, ...other], { usage, now: 9_000 }).picks.map(({ id }) => id)).toEqual(['b1', 'b2']);
  });

  it('lets a large launch through an endless stream of small, urgent ones', () => {
    const large = entry('large', { runs: 4, priority: 0 });
    let waiting = [large];
    let running: { until: number }[] = [];
    let turn: WorkspaceTurn | undefined;
    let wentAt = -1;
    for (let now = 0; wentAt < 0 && now < 60_000; now += 100) {
      waiting.push(entry(`s${now}`, { priority: 3, enqueuedAt: now, workspaceId: 'b' }));
      running = running.filter(({ until }) => until > now);
      const plan = planOf(waiting, { usage: { global: used(running.length) }, turn, now });
      turn = plan.turn;
      for (const { id } of plan.picks) {
        if (id === 'large') {
          wentAt = now;
        } else {
          running.push({ until: now + 350 });
        }
      }
      waiting = waiting.filter(({ id }) => !plan.picks.some((pick) => pick.id === id));
    }
    expect(wentAt).toBeGreaterThanOrEqual(3_000);
    expect(wentAt).toBeLessThanOrEqual(4_000);
  });
});
