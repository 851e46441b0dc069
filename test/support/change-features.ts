import { setTimeout as delay } from 'node:timers/promises';
import { settingsCacheMs } from '../../stores/settings/settings-store';
import type { Caller } from './caller';

/** Resolves once every process has to use settings that were changed before this was called. */
export const settingsInUse = (): Promise<void> => delay(settingsCacheMs + 1);

/** Changes features of the board, and waits until every process has to use them. */
export async function changeFeatures(call: Caller, features: object): Promise<void> {
  await call.ok('PATCH', '/api/settings/features', features);
  await settingsInUse();
}
