/**
 * A simulated fleet: hosts with heartbeats and task queues of their own, launches of many execution trees that wait in the
 * queue, agents that do nothing, and some hosts that are lost at once and come back; with real Temporal, the real workflows of
 * runs and of the scheduler, and real stores (MongoDB when `MONGODB_URL` names an empty database).
 *
 *     npm run build && node dist/bench/fleet/simulation/main.js
 *     FLEET_HOSTS=100 FLEET_RUNS=10000 FLEET_TREES=1000 FLEET_LOST=30 node dist/bench/fleet/simulation/main.js
 *
 * Ends with an error when a run was lost or was run twice.
 */
import { loadavg } from 'node:os';
import { sizeOf } from '../sizes';
import { simulate } from './simulate';

async function main(): Promise<void> {
  const sizes = {
    hosts: sizeOf('FLEET_HOSTS', 10),
    slots: sizeOf('FLEET_SLOTS', 2),
    runs: sizeOf('FLEET_RUNS', 300),
    trees: sizeOf('FLEET_TREES', 30),
    workspaces: sizeOf('FLEET_WORKSPACES', 4),
    lost: sizeOf('FLEET_LOST', 3),
    agentMs: sizeOf('FLEET_AGENT_MS', 2_000),
    awayMs: sizeOf('FLEET_AWAY_MS', 10_000),
    // Shorter than in operation, so that an outage takes seconds.
    leaseMs: sizeOf('FLEET_LEASE_MS', 6_000),
  };
  console.log(
    `load before: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
  console.table([sizes]);
  const tables = await simulate(sizes);
  for (const [title, table] of tables) {
    console.log(`\n${title}`);
    console.table(table);
  }
  console.log(
    `load after: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
  const mishaps = Object.values(tables.get('What must not happen')?.all ?? {});
  if (mishaps.some((count) => count !== 0)) {
    throw new Error('Runs were lost, or were run twice.');
  }
}

void main();
