import { timerAfter } from './timers';

const entry = { id: 'time_2', now: new Date('2026-01-01T00:01:00.000Z') };
const running = {
  entries: [{ id: 'time_1', startTime: '2026-01-01T00:00:00.000Z' }],
  totalSeconds: 0,
  isRunning: true,
  activeEntryId: 'time_1',
};
const [start, stop] = [{ type: 'auto-start-timer' } as const, { type: 'auto-stop-timer' } as const];

describe('timers after a change of a status', () => {
  it('starts a timer that does not run, and leaves one that does', () => {
    expect(timerAfter([start], undefined, entry)).toMatchObject({ isRunning: true, activeEntryId: 'time_2' });
    expect(timerAfter([start], running, entry)).toBeUndefined();
  });

  it('stops a timer that runs, also where another rule would start it, and leaves one that does not', () => {
    expect(timerAfter([start, stop], running, entry)).toMatchObject({ isRunning: false, totalSeconds: 60 });
    expect(timerAfter([stop], undefined, entry)).toBeUndefined();
  });

  it('changes nothing without a timer among the actions, nor on a task with as many entries as there may be', () => {
    expect(timerAfter([{ type: 'log-activity' }], running, entry)).toBeUndefined();
    const ended = { id: 'e', startTime: entry.now.toISOString(), endTime: entry.now.toISOString() };
    const full = { entries: Array.from({ length: 1000 }, () => ended), totalSeconds: 0, isRunning: false };
    expect(timerAfter([start], full, entry)).toBeUndefined();
  });
});
