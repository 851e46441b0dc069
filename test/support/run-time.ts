import { createLog } from '../../platform/log/log';
import { openDatabase } from '../../stores/port/open';
import { createSettingsStore } from '../../stores/settings/settings-store';
import { settingsInUse } from './change-features';

/** The setting is in minutes, and a minute is the least the API takes: shorter times are written straight into the stores. */
export async function setRunTime(
  { dataDir, mongoUrl }: { dataDir: string; mongoUrl?: string | undefined },
  ms: number,
): Promise<void> {
  const database = await openDatabase({ mongoUrl, dataDir, log: createLog({ name: 'test', level: 'silent' }) });
  try {
    const settings = await createSettingsStore(database, { BOARD_MAX_RUNS: 50, BOARD_RUN_TIMEOUT_MS: 60_000 });
    await settings.patch({ agents: { timeoutMinutes: ms / 60_000 } });
    // Other processes have seen it by then.
    await settingsInUse();
  } finally {
    await database.close();
  }
}
