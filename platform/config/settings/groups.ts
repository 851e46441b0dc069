import { z } from 'zod';
import { apiSettings, rateLimitSettings } from './api';
import { runSettings, workerSettings } from './runs';
import { bitmapSettings, plantSettings, workflowRunSettings } from './services';
import { signInSettings } from './sign-in';
import { startSettings } from './start';
import { storeSettings } from './stores';
import { temporalSettings } from './temporal';
import { traceSettings } from './traces';

/** The settings of every process. */
const processSettings = {
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('The least level that is logged'),
  NODE_ENV: z
    .enum(['development', 'production', 'test'])
    .default('development')
    .describe(
      '`production`: pages and callers on this machine have no privileges, and responses are not checked against their contracts',
    ),
};

/** Every environment variable that is read, in the groups of `docs/operate/configuration.md`. */
export const settingGroups = {
  Start: startSettings,
  API: apiSettings,
  'OpenID Connect': signInSettings,
  'Rate limits': rateLimitSettings,
  Stores: storeSettings,
  Temporal: temporalSettings,
  Runs: runSettings,
  Workers: workerSettings,
  'Every process': processSettings,
  Traces: traceSettings,
  'Bitmap index': bitmapSettings,
  'Workflow runs': workflowRunSettings,
  'Plant store': plantSettings,
};
