import {
  type CommunityChannel,
  communityChannel,
  communityChannelDisable,
  communityChannelList,
  communityChannelPut,
} from '../../../contracts/chat/adapter-channel';
import { communityChannelId } from '../../../contracts/chat/adapter-delivery';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { isSameJson } from '../../../platform/json/same';
import { operationTime } from '../../../platform/operations/operation';
import { plainField } from '../../tasks/tasks/plain-text';
import { type AdapterContext, byAdapter, findCommunity, root, tag } from './adapter';

const byChannel = byAdapter.extend({ channelId: communityChannelId });

/** Channels of one adapter that were mapped at some time. */
export const maxChannels = 200;

/** The channels of a community that are mapped to the squad chat. */
export function adapterChannelRoutes(routes: Routes, context: AdapterContext): void {
  const { adapterChannels } = context;
  const writes = { tag, permission: 'settings:write', params: byChannel, response: communityChannel, errors: [409] };
  const path = `${root}/adapters/:adapterId/community/channels`;

  async function written(adapterId: string, channelId: string): Promise<CommunityChannel> {
    const channel = (await adapterChannels.list(adapterId)).find((one) => one.channelId === channelId);
    assertFound(channel, 'community channel', channelId);
    return channel;
  }

  routes.add(
    {
      method: 'get',
      tag,
      permission: 'settings:read',
      path,
      operationId: 'listCommunityChannels',
      summary: 'List the mapped channels of a community',
      params: byAdapter,
      response: communityChannelList,
      errors: [409],
    },
    async ({ params: { adapterId } }) => {
      await findCommunity(context, adapterId);
      return { channels: await adapterChannels.list(adapterId) };
    },
  );

  routes.add(
    {
      ...writes,
      method: 'put',
      path: `${path}/:channelId`,
      operationId: 'putCommunityChannel',
      summary: 'Set the mapping of a channel to the squad chat; one enabled channel may have it',
      body: communityChannelPut,
      audit: ({ params: { adapterId } }, { channelId, enabled, actor }) => ({
        action: 'communication.map-channel',
        resource: adapterId,
        details: { channelId, enabled, actor },
      }),
    },
    async ({ params: { adapterId, channelId }, body: { target, enabled, actor }, auth }) => {
      await findCommunity(context, adapterId);
      const fields = { target, enabled, actor: actor === undefined ? auth.tokenName : plainField(actor, 'actor') };
      await adapterChannels.change(adapterId, (channels) => {
        const other = channels.find((one) => one.enabled && one.channelId !== channelId);
        if (enabled && other) {
          const message = `The channel ${other.channelId} is the squad chat. Disable it first.`;
          throw conflict(message, { adapterId, channelId: other.channelId }, 'CHANNEL_ALREADY_MAPPED');
        }
        return withChannel(channels, channelId, fields);
      });
      return written(adapterId, channelId);
    },
  );

  routes.add(
    {
      ...writes,
      method: 'post',
      path: `${path}/:channelId/disable`,
      operationId: 'disableCommunityChannel',
      summary: 'Disable the mapping of a channel; what was read stays',
      body: communityChannelDisable,
      audit: ({ params: { adapterId } }, { channelId, actor }) => ({
        action: 'communication.disable-channel',
        resource: adapterId,
        details: { channelId, actor },
      }),
    },
    async ({ params: { adapterId, channelId }, body: { actor }, auth }) => {
      await findCommunity(context, adapterId);
      const { target } = await written(adapterId, channelId);
      const fields = {
        target,
        enabled: false,
        actor: actor === undefined ? auth.tokenName : plainField(actor, 'actor'),
      };
      await adapterChannels.change(adapterId, (channels) => withChannel(channels, channelId, fields));
      return written(adapterId, channelId);
    },
  );
}

type Channel = Omit<CommunityChannel, 'polledUntil'>;

/** The channels with one that has these fields; a change that changes nothing is no version of its own. */
function withChannel(
  channels: readonly Channel[],
  channelId: string,
  fields: Pick<Channel, 'target' | 'enabled' | 'actor'>,
): Channel[] {
  const updatedAt = operationTime().toISOString();
  const current = channels.find((one) => one.channelId === channelId);
  if (!current && channels.length >= maxChannels) {
    throw conflict(`An adapter has at most ${maxChannels} channels.`, { max: maxChannels }, 'ADAPTER_LIMIT');
  }
  if (!current) {
    return [...channels, { channelId, ...fields, revision: 1, createdAt: updatedAt, updatedAt }];
  }
  const { target, enabled, actor } = current;
  const next = isSameJson({ target, enabled, actor }, fields)
    ? current
    : { ...current, ...fields, revision: current.revision + 1, updatedAt };
  return channels.map((one) => (one === current ? next : one));
}
