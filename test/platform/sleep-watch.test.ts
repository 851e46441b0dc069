import { SleepWatch } from '../../platform/processes/sleep-watch';

describe('a watch for sleep', () => {
  const clocks = { monotonic: 0, wall: 0, monotonicMs: () => clocks.monotonic, wallMs: () => clocks.wall };
  const slept: number[] = [];
  let watch: SleepWatch;
  beforeEach(() => {
    slept.length = 0;
    Object.assign(clocks, { monotonic: 0, wall: 0 });
    watch = new SleepWatch(1_000, clocks);
    watch.onSlept((ms) => slept.push(ms));
  });
  afterEach(() => watch.close());

  it('reports a suspended process once, and nothing shorter', () => {
    for (const now of [250, 500, 1_400, 2_400]) {
      Object.assign(clocks, { monotonic: now, wall: now });
      watch.look();
    }
    expect(slept).toEqual([]);
    Object.assign(clocks, { monotonic: 42_400, wall: 42_400 });
    watch.look();
    watch.look();
    expect(slept).toEqual([40_000]);
  });

  it('reports a host that was asleep, where only the wall clock advanced; one that is set back is no sleep', () => {
    Object.assign(clocks, { monotonic: 10, wall: 60_000 });
    watch.look();
    Object.assign(clocks, { monotonic: 20, wall: 5 });
    watch.look();
    expect(slept).toEqual([60_000]);
  });
});
