import { join } from 'node:path';
import type { PolicyFields } from '../contracts/governance/policy';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';
import { openGovernanceStores } from '../stores/governance/open';
import { createSettingsStore } from '../stores/settings/settings-store';
import { openSqlite } from '../stores/sqlite/database';
import { createFeedStore } from '../stores/system/feed-store';
import { createRateCountStore } from '../stores/system/rate-count-store';

/** How long the rules take to decide about one action: `node dist/bench/decisions.js`. */
const policies = 500;
const rounds = 5_000;

const percentile = (sorted: number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(3);

async function main(): Promise<void> {
  const directory = await makeTempDir('decisions');
  const log = createLog({ name: 'bench', level: 'silent' });
  const database = await openSqlite({ file: join(directory.path, 'bench.sqlite'), log });
  const { features } = await (
    await createSettingsStore(database, { BOARD_MAX_RUNS: 1, BOARD_RUN_TIMEOUT_MS: 1 })
  ).read();
  const rates = await createRateCountStore(database);
  const feed = await createFeedStore(database);
  const settings = { current: async () => features };
  const attempts = { get: async () => undefined };
  const stores = await openGovernanceStores(database, { rates, feed, settings, attempts });
  type Ask = (project: string) => Promise<unknown>;
  const asked = (project: string) => ({ action: 'launch' as const, agent: 'bee', actor: 'service:bench', project });
  let recorded: Promise<void> = Promise.resolve();
  const decision: Ask = async (project) => {
    ({ recorded } = await stores.rules.decideFirst(asked(project)));
  };
  const withTrace: Ask = (project) => stores.rules.decide(asked(project));
  const measure = async (name: string, project: string, ask: Ask = decision): Promise<void> => {
    const times: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await recorded;
      const used = process.cpuUsage();
      const begun = performance.now();
      await ask(project);
      times.push(performance.now() - begun);
      const { user, system } = process.cpuUsage(used);
      cpu.push((user + system) / 1_000);
    }
    const [wall, busy] = [times, cpu].map((values) => values.sort((one, other) => one - other));
    const both = (values: number[] = []) =>
      `${percentile(values, 0.5)} ms at p50, ${percentile(values, 0.99)} ms at p99`;
    console.log(`${name}: ${both(wall)}; CPU ${both(busy)}`);
  };
  await measure('no policy', 'other');
  for (let made = 0; made < policies; made += 1) {
    const scope = { projects: [`project-${made}`] };
    const rules = [{ tool: '*', action: 'launch', effect: 'warn' }];
    const fields = { type: 'rules', name: 'P', description: '', enabled: true, precedence: 0, scope, rules };
    await stores.policies.create(`policy-${made}`, fields as PolicyFields);
  }
  await measure(`${policies} policies, none about it`, 'other');
  await measure(`${policies} policies, one about it, while its trace is stored`, 'project-7');
  await measure(`${policies} policies, one about it, once its trace is stored`, 'project-7', withTrace);
  await database.close();
  await directory.remove();
}

void main();
