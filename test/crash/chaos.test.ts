import { runChaos } from '../chaos/chaos';

test('nothing is lost or done twice while random processes are killed', async () => {
  const report = await runChaos({ kills: 7, seed: 5, concurrency: 4 });
  expect(report.problems).toEqual([]);
  expect(report.attempts).toBeGreaterThanOrEqual(report.runs);
  expect(report.endings).not.toHaveProperty('none');
}, 600_000);
