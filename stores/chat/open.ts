import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createActivityStore } from './activity-store';
import { createAdapterChannelStore } from './adapter-channel-store';
import { createAdapterDefinitionStore } from './adapter-definition-store';
import { createAdapterDeliveryStore } from './adapter-delivery-store';
import { createAdapterMappingStore } from './adapter-mapping-store';
import { createAdapterStore } from './adapter-store';
import { createAgentStatusStore } from './agent-status-store';
import { createBroadcastStore } from './broadcast-store';
import { createNotificationStore } from './notification-store';
import { createChatStore } from './session-store';
import { createSquadStore } from './squad-store';

/** Opens the stores of messages between people and agents. */
export const openChatStores = (database: Database) =>
  openTogether({
    activity: createActivityStore(database),
    adapterChannels: createAdapterChannelStore(database),
    adapterDefinitions: createAdapterDefinitionStore(database),
    adapterDeliveries: createAdapterDeliveryStore(database),
    adapterMappings: createAdapterMappingStore(database),
    adapters: createAdapterStore(database),
    agentStatus: createAgentStatusStore(database),
    broadcasts: createBroadcastStore(database),
    chats: createChatStore(database),
    notifications: createNotificationStore(database),
    squad: createSquadStore(database),
  });
