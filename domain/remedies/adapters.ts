import type { Remedy, Step } from './remedy';

const adapter = (remedy: string): Step => ({
  call: 'PUT /api/integrations/communication/adapters/:adapterId',
  remedy,
  ids: { adapterId: ['adapterId'] },
});
const list = (remedy: string): Step => ({ call: 'GET /api/integrations/communication/adapters', remedy });
const health = (remedy: string): Step => ({
  call: 'GET /api/integrations/communication/adapters/:adapterId/health',
  remedy,
  ids: { adapterId: ['adapterId'] },
});

/** Refusals of communication adapters. */
export const adapterRemedies: Record<string, Remedy> = {
  ADAPTER_DISABLED: [adapter('Enable the adapter.')],
  ADAPTER_NOT_CONFIGURED: [adapter('Configure what the message names.')],
  ADAPTER_KIND: [list('Read which adapters there are, and of which kind.')],
  ADAPTER_LIMIT: [list('Change an adapter that is there instead.')],
  ADAPTER_NOT_POLLED: [health('Read how the adapter does; replies are posted to it.')],
  ADAPTER_UNAVAILABLE: [health('Read what is wrong with the adapter.')],
  DEFINITION_CHANGED: [
    {
      call: 'POST /api/integrations/communication/adapters/:adapterId/community/definitions/preview',
      remedy: 'Preview the definition as it is now.',
      ids: { adapterId: ['adapterId'] },
    },
  ],
  DEFINITION_CONFLICT: [
    {
      call: 'GET /api/config/profiles',
      remedy: 'Read the profile, and import under another profileId or overwrite it.',
    },
  ],
  CHANNEL_ALREADY_MAPPED: [
    {
      call: 'POST /api/integrations/communication/adapters/:adapterId/community/channels/:channelId/disable',
      remedy: 'Disable the channel that is the squad chat.',
      ids: { adapterId: ['adapterId'], channelId: ['channelId'] },
    },
  ],
  MAPPING_CONFLICT: [
    {
      call: 'GET /api/integrations/communication/mappings',
      remedy: 'Read what the thread belongs to, and reply without a target.',
    },
  ],
};
