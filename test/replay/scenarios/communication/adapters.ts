import { eventually } from '../../../../platform/testing/eventually';
import { aChannelId, anIdentity, startRelay } from '../../../support/communication/relay-server';
import { slackResponses, startTeamChat } from '../../../support/communication/team-chat-server';
import { latestWorkflow, type Recording, type Stage } from '../stage';

const root = '/api/integrations/communication';
export const recordedIdentity = anIdentity();

/** Sends a message that is refused once, and one that is refused for good; probes and polls a community. */
export async function communicationScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const [slack, relay] = await Promise.all([startTeamChat(slackResponses.ok), startRelay()]);
  try {
    await call.ok('PUT', `${root}/adapters/slack`, { kind: 'slack', webhookUrl: slack.url });
    const send = async (): Promise<string> => {
      const { id } = await call.ok('POST', `${root}/adapters/slack/send`, { message: 'Recorded' });
      await temporal.workflow.getHandle(`adapter-delivery/${id}`).result();
      return `adapter-delivery/${id}`;
    };
    slack.answer(slackResponses.rollupError);
    const delivered = await send();
    slack.answer(slackResponses.archived);
    const failed = await send();
    await call.ok('PUT', `${root}/adapters/garden`, {
      ...{ kind: 'community', relayHttpUrl: relay.httpUrl, publicKey: recordedIdentity.publicKey },
      ...{ credentialRef: 'env:COMMUNITY_RECORDED_KEY', allowLocalhost: true },
    });
    await call.ok('PUT', `${root}/adapters/garden/community/channels/${aChannelId()}`, { target: { kind: 'squad' } });
    await call.ok('POST', `${root}/adapters/garden/test`);
    const probe = await latestWorkflow(temporal, 'adapterRequest');
    await call.ok('POST', `${root}/adapters/garden/poll`);
    const poll = probe.replace('adapter-probe/', 'adapter-poll/');
    await call.ok('GET', `${root}/adapters/garden/community/definitions`);
    return [
      ['adapter-delivery', delivered],
      ['adapter-delivery-failed', failed],
      ['adapter-probe', probe],
      ['adapter-poll', poll],
      ['adapter-definitions', probe.replace('adapter-probe/', 'adapter-definitions/')],
    ];
  } finally {
    await Promise.all([slack.close(), relay.close()]);
  }
}

/** A message whose delivery an operator cancels while the other side has not answered yet. */
export async function cancelledDeliveryScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const slack = await startTeamChat(slackResponses.ok);
  try {
    await call.ok('PUT', `${root}/adapters/slow-slack`, { kind: 'slack', webhookUrl: slack.url });
    let acknowledge = (): void => undefined;
    slack.answer((response, posted) => {
      acknowledge = () => slackResponses.ok(response, posted);
    });
    const { id } = await call.ok('POST', `${root}/adapters/slow-slack/send`, { message: 'Recorded' });
    const handle = temporal.workflow.getHandle(`adapter-delivery/${id}`);
    await eventually(() => {
      if (slack.posted.length === 0) {
        throw new Error('it is not being sent yet');
      }
    });
    await handle.cancel();
    await eventually(async () => {
      const { events } = await handle.fetchHistory();
      if (events?.some((event) => event.activityTaskCancelRequestedEventAttributes) !== true) {
        throw new Error('its attempt is not cancelled yet');
      }
    });
    acknowledge();
    await handle.result();
    return [['adapter-delivery-cancelled', handle.workflowId]];
  } finally {
    await slack.close();
  }
}
