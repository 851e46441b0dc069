/**
 * A process that reserves capacity in an embedded store, requeues and releases it, until it is killed:
 * `reserver.ts <file> <name> <this|earlier>`. Processes of one name do so for the same attempts. Prints `ready` when it begins, and
 * the id of each attempt that holds capacity.
 */
import { policiesOf } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { createLog } from '../../../platform/log/log';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { defaultFeatures } from '../../../stores/settings/settings-store';
import { openSqlite } from '../../../stores/sqlite/database';
import { earlierReservations } from '../stores/earlier-reservations';

const [file = '', name = '', version = 'this'] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);
const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 4, BOARD_RUN_TIMEOUT_MS: 60_000 });

async function main(): Promise<void> {
  const database = await openSqlite({ file, log: createLog({ name: 'reserver', level: 'fatal' }) });
  const store = await createReservationStore(database);
  const earlier = await earlierReservations(database);
  const steps =
    version === 'this'
      ? {
          reserve: async (...args: Parameters<typeof store.reserve>) => (await store.reserve(...args)).outcome,
          requeue: (id: string) => store.releaseForRequeue(id, new Date()),
          release: (id: string) => store.release(id, { reason: 'completed', evidence: 'done', now: new Date() }),
        }
      : {
          reserve: async (...args: Parameters<typeof earlier.reserve>) => earlier.reserve(...args),
          requeue: (id: string) => earlier.releaseForRequeue(id, new Date()),
          release: (id: string) => earlier.release(id, new Date()),
        };
  print('ready');
  let next = 0;
  const reserveOn = async (): Promise<void> => {
    for (;;) {
      const at = next++;
      const request = sampleRequest(`attempt_${name}_${at}`, { hostId: `h-${at % 2}` });
      const { attemptId } = request;
      const reserve = () =>
        steps.reserve(request, policiesOf(admission, request), { now: new Date(), leaseMs: 60_000 });
      if ((await reserve()) !== 'held') {
        continue;
      }
      print(attemptId);
      if (at % 3 === 0) {
        await steps.requeue(attemptId);
        await reserve();
      }
      await steps.release(attemptId);
      if (version === 'this' && at % 7 === 0) {
        await store.repair(new Date());
      }
    }
  };
  await Promise.all([reserveOn(), reserveOn(), reserveOn()]);
}

void main();
