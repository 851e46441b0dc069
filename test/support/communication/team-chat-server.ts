import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { listen } from '../../../platform/http/server/server';

export interface Posted {
  path: string;
  headers: IncomingHttpHeaders;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into messages of every shape
}

/** How the next post is answered: what the team chat documents, or something else. */
export type Responder = (response: ServerResponse, posted: Posted) => void;

const respond = (status: number, text: string, headers: Record<string, string> = {}): Responder => {
  return (response) => void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text);
};

/** What incoming webhooks of Slack answer (docs.slack.dev, Sending messages using incoming webhooks). */
export const slackResponses = {
  ok: respond(200, 'ok'),
  invalidPayload: respond(400, 'invalid_payload'),
  noService: respond(404, 'no_service'),
  archived: respond(410, 'channel_is_archived'),
  rateLimited: (seconds: number) => respond(429, 'rate_limited', { 'retry-after': String(seconds) }),
  rollupError: respond(500, 'rollup_error'),
  proxyPage: respond(200, '<html>Welcome to the hotel network</html>'),
  redirect: respond(302, '', { location: 'http://127.0.0.1:1/' }),
};

/** What webhooks of Teams answer: connectors, and workflows of Power Automate. */
export const teamsResponses = {
  connectorOk: respond(200, '1'),
  workflowAccepted: respond(202, ''),
  connectorRateLimited: respond(
    200,
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=0',
  ),
  badCard: respond(400, 'Bad payload received by generic incoming webhook.'),
};

/** Ends the connection without an answer, after the message was read. */
export const hangUp: Responder = (response) => void response.destroy();

/** Leaves the connection open without an answer. */
export const silence: Responder = () => undefined;

/** A webhook of a team chat that records what is posted to it. */
export async function startTeamChat(usual: Responder) {
  const posted: Posted[] = [];
  const heads: string[] = [];
  const next: Responder[] = [];
  const server = await listen(
    async (request, response) => {
      let body = '';
      for await (const chunk of request) {
        body += String(chunk);
      }
      if (request.method === 'HEAD') {
        heads.push(request.url ?? '');
        response.writeHead(405).end();
        return;
      }
      const post: Posted = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) };
      posted.push(post);
      (next.shift() ?? usual)(response, post);
    },
    { host: '127.0.0.1', port: 0 },
  );
  return {
    url: `${server.url}/services/T000/B000/hunter2hunter2?sig=signature`,
    posted,
    heads,
    /** Answers the next posts this way, one after the other. */
    answer: (...responders: Responder[]) => next.push(...responders),
    close: () => server.close(),
  };
}

export type TeamChatServer = Awaited<ReturnType<typeof startTeamChat>>;
