import fc from 'fast-check';
import { schedule, type Candidate, type Turn } from './schedule';
import { plus, minus, nothing, type Policy } from './capacity';
import type { Capacity } from '../../contracts/admission';
import type { SchedulerSettings } from '../../contracts/settings';

const settings: SchedulerSettings = {
  levels: 4,
  defaultPriority: 1,
  agingMs: 1_000,
  maxPromotions: 3,
  workspaceBurst: 2,
  evaluationLimit: 32,
};

const policy = (key: string, limit: number): Policy => ({
  policy: `${key}.runs`,
  scope: 'global',
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
    keys: ['global'],
    ...rest,
  };
};

const used = (runs: number): Capacity => ({ ...nothing, runs });
const order = (entries: Candidate[], turn?: Turn, now = 0) =>
  schedule(entries, {}, turn, settings, now).picks.map(({ id }) => id);

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
  expect(schedule([old, young(9_000)], {}, undefined, slow, 9_000).picks[0]?.id).toBe('young');
});

it('serves workspaces in turns of a burst, and goes on where the last look ended', () => {
  const entries = ['a', 'b', 'c'].flatMap((workspaceId) =>
    [1, 2, 3].map((n) => entry(`${workspaceId}${n}`, { workspaceId, policies: [], enqueuedAt: n })),
  );
  expect(order(entries)).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'a3', 'b3', 'c3']);
  expect(order(entries, { workspaceId: 'b', served: 1 }).slice(0, 4)).toEqual(['b1', 'c1', 'c2', 'a1']);
});

it('does not let an entry without room hold up the next one that fits, and says what is in the way', () => {
  const onHost = entry('x', { policies: [policy('host', 1), policy('global', 4)], keys: ['host', 'global'] });
  const { picks, blocked } = schedule([onHost, entry('y')], { host: used(1) }, undefined, settings, 0);
  expect(picks.map(({ id }) => id)).toEqual(['y']);
  expect(blocked).toEqual([{ id: 'x', policies: [expect.objectContaining({ policy: 'host.runs' })] }]);
});

it('hands out no more than there is, nor more than the bound of one look', () => {
  expect(order(Array.from({ length: 9 }, (_, n) => entry(`e${n}`)))).toHaveLength(4);
  const free = Array.from({ length: 40 }, (_, n) => entry(`e${n}`, { policies: [] }));
  expect(order(free)).toHaveLength(settings.evaluationLimit);
});

it('keeps room for an entry that has waited too long, so that small ones cannot pass it for ever', () => {
  const large = entry('large', { runs: 4 });
  const small = entry('small', { enqueuedAt: 2_999 });
  const look = (now: number) =>
    schedule([large, small], { global: used(1) }, undefined, settings, now).picks.map(({ id }) => id);
  expect(look(2_999)).toEqual(['small']);
  expect(look(3_000)).toEqual([]);
});

/** One arrival: after how many ticks, where, how large, how urgent, how long it will run. */
const arrivals = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 2 }),
    workspaceId: fc.constantFrom('a', 'b', 'c'),
    runs: fc.integer({ min: 1, max: 4 }),
    priority: fc.integer({ min: 0, max: 3 }),
    ticks: fc.integer({ min: 1, max: 4 }),
    host: fc.constantFrom('h1', 'h2'),
  }),
  { minLength: 1, maxLength: 60 },
);

it('starves nobody: over random arrivals every entry goes within its bound, and no ceiling is ever exceeded', () => {
  const tick = 250;
  const longest = 4;
  const overdue = settings.agingMs * settings.maxPromotions;
  fc.assert(
    fc.property(arrivals, (list) => {
      let at = 0;
      const coming = list.map(({ after, host, runs, ...rest }, n) => {
        at += after * tick;
        const policies = [policy('global', 4), policy(host, 4)];
        return {
          ...entry(`e${n}`, { ...rest, runs, policies, keys: ['global', host], enqueuedAt: at }),
          ticks: rest.ticks,
        };
      });
      const arrivalsAll = [...coming];
      let waiting: typeof coming = [];
      let running: { entry: (typeof coming)[number]; until: number }[] = [];
      const usage: Record<string, Capacity> = {};
      let turn: Turn | undefined;
      for (let now = 0; coming.length + waiting.length > 0; now += tick) {
        while (coming[0] && coming[0].enqueuedAt <= now) waiting.push(coming.shift()!);
        for (const { entry: ended } of running.filter(({ until }) => until <= now)) {
          for (const key of ended.keys) usage[key] = minus(usage[key]!, ended.requested);
        }
        running = running.filter(({ until }) => until > now);
        const plan = schedule(waiting, usage, turn, settings, now);
        turn = plan.turn;
        for (const { id } of plan.picks) {
          const picked = waiting.find((each) => each.id === id)!;
          for (const key of picked.keys) usage[key] = plus(usage[key] ?? nothing, picked.requested);
          running.push({ entry: picked, until: now + picked.ticks * tick });
          // Behind every one that came before its promotions were used up, and the turns of the others in between.
          const ahead = arrivalsAll.filter((each) => each.enqueuedAt <= picked.enqueuedAt + overdue).length;
          expect(now - picked.enqueuedAt).toBeLessThanOrEqual(overdue + ahead * (longest + 1) * tick);
        }
        waiting = waiting.filter(({ id }) => !plan.picks.some((pick) => pick.id === id));
        for (const capacity of Object.values(usage)) expect(capacity.runs).toBeLessThanOrEqual(4);
      }
    }),
    { numRuns: 300 },
  );
});

it('lets a large launch through an endless stream of small, urgent ones', () => {
  const large = entry('large', { runs: 4, priority: 0 });
  let waiting = [large];
  let running: { until: number }[] = [];
  let turn: Turn | undefined;
  let wentAt = -1;
  for (let now = 0; wentAt < 0 && now < 60_000; now += 100) {
    waiting.push(entry(`s${now}`, { priority: 3, enqueuedAt: now, workspaceId: 'b' }));
    running = running.filter(({ until }) => until > now);
    const plan = schedule(waiting, { global: used(running.length) }, turn, settings, now);
    turn = plan.turn;
    for (const { id } of plan.picks) {
      if (id === 'large') wentAt = now;
      else running.push({ until: now + 350 });
    }
    waiting = waiting.filter(({ id }) => !plan.picks.some((pick) => pick.id === id));
  }
  expect(wentAt).toBeGreaterThanOrEqual(3_000);
  expect(wentAt).toBeLessThanOrEqual(4_000);
});
