import { z } from 'zod';
import { flag, hostPort, optionalText, text } from './kinds';

/** How Temporal is reached. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: hostPort.describe('A Temporal server; without it `npm start` runs the embedded one'),
  TEMPORAL_HTTP_ADDRESS: hostPort.describe(
    'Its HTTP API, for Nexus, which makes previews and readings of worktrees faster',
  ),
  TEMPORAL_NAMESPACE: text('name').default('default').meta({ form: 'name' }).describe('Its namespace'),
  TEMPORAL_API_KEY: optionalText('text').describe('API key that it requires'),
  TEMPORAL_TLS: flag(false).describe('It is reached over TLS; implied by an API key and by each of the next four'),
  TEMPORAL_TLS_CA_FILE: optionalText('PEM file').describe('CA of its certificate, where it is not a public one'),
  TEMPORAL_TLS_CERT_FILE: optionalText('PEM file').describe('Our certificate, for mTLS'),
  TEMPORAL_TLS_KEY_FILE: optionalText('PEM file').describe('Its key; mode 0600'),
  TEMPORAL_TLS_SERVER_NAME: optionalText('name').describe(
    'Name in its certificate, where it is not that of the address',
  ),
  TEMPORAL_CALL_STACKS: flag(false).describe(
    'Workflows have a call stack in its UI, for which their threads take two thirds more CPU',
  ),
  TEMPORAL_UI_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe('Port of the UI of the embedded server, 0: any free one; without it there is none'),
};
