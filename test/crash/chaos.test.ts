import { runChaos } from '../chaos/chaos';

describe('service under chaos', () => {
  test('nothing is lost or done twice while random processes are killed and paused', async () => {
    const report = await runChaos({ strikes: 10, seed: 5, concurrency: 4 });
    expect(report.problems).toEqual([]);
    expect(report.attempts).toBeGreaterThanOrEqual(1);
  }, 600_000);
});
