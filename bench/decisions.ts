import { join } from 'node:path';
import type { PolicyFields } from '../contracts/governance/policy';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';
import { openGovernanceStores } from '../stores/governance/open';
import { openSqlite } from '../stores/sqlite/database';
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
  const stores = await openGovernanceStores(database, { rates: await createRateCountStore(database) });
  const measure = async (name: string, project: string): Promise<void> => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      await stores.rules.decide({ action: 'launch', agent: 'bee', actor: 'service:bench', project });
      times.push(performance.now() - begun);
    }
    times.sort((one, other) => one - other);
    console.log(`${name}: ${percentile(times, 0.5)} ms at p50, ${percentile(times, 0.99)} ms at p99`);
  };
  await measure('no policy', 'other');
  for (let made = 0; made < policies; made += 1) {
    const scope = { projects: [`project-${made}`] };
    const rules = [{ tool: '*', action: 'launch', effect: 'warn' }];
    const fields = { type: 'rules', name: 'P', description: '', enabled: true, precedence: 0, scope, rules };
    await stores.policies.create(`policy-${made}`, fields as PolicyFields);
  }
  await measure(`${policies} policies, none about it`, 'other');
  await measure(`${policies} policies, one about it, with its trace`, 'project-7');
  await database.close();
  await directory.remove();
}

void main();
