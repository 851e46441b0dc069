import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { board, type SquadMessage, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { useForbidden } from '../app/session';
import { Button } from '../ui/button';
import { Icon } from '../ui/icon';
import { Markdown } from '../ui/markdown';
import { Badge, Empty, Loaded } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { Ago } from '../ui/time';
import s from './chat.module.css';

const squadQuery = {
  queryKey: keys.squad,
  queryFn: (): Promise<SquadMessage[]> =>
    unwrap(board.GET('/api/chat/squad', { params: { query: { limit: 100, includeSystem: 'true' as const } } })),
};

function Message({ message }: { message: SquadMessage }) {
  return (
    <li className={message.system ? `${s.message} ${s.system}` : s.message}>
      <header className="row wrap">
        <strong>{message.displayName ?? message.agent}</strong>
        <span className="meta">
          <Ago at={message.timestamp} />
        </span>
        {message.pinned ? <Badge icon="bookmark">pinned</Badge> : null}
        {message.decision ? (
          <Badge tone="green" icon="check">
            decision
          </Badge>
        ) : null}
        {message.taskId ? (
          <Link to="/tasks/$taskId" params={{ taskId: message.taskId }} className="meta">
            {message.taskTitle ?? message.taskId}
          </Link>
        ) : null}
        <span className="grow" />
        {message.reactions.length > 0 ? (
          <span className="meta">{message.reactions.map(({ reaction }) => reaction).join(' ')}</span>
        ) : null}
      </header>
      <Markdown text={message.message} />
    </li>
  );
}

/** The chat of people and agents; what agents do appears as messages of the system. */
export function ChatView() {
  const why = useForbidden()('comment:write');
  const query = useQuery(squadQuery);
  const [text, setText] = useState('');
  const [withSystem, setWithSystem] = useState(true);
  const end = useRef<HTMLDivElement>(null);
  const send = useMutation({
    mutationFn: () => unwrap(board.POST('/api/chat/squad', { body: { message: text.trim() } })),
    onSuccess: (message) => {
      setText('');
      queryClient.setQueryData<SquadMessage[]>(keys.squad, (list) =>
        list && !list.some(({ id }) => id === message.id) ? [...list, message] : list,
      );
    },
  });
  const messages = query.data?.filter(({ system }) => withSystem || !system);
  const last = messages?.at(-1)?.id;
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [last]);
  const submit = (event: Submission) => {
    event.preventDefault();
    if (text.trim() !== '') {
      send.mutate();
    }
  };
  return (
    <div className={`view ${s.view}`}>
      <header>
        <h1 className="grow">Chat</h1>
        <label className="row meta">
          <input type="checkbox" checked={withSystem} onChange={(event) => setWithSystem(event.target.checked)} />
          With events of agents
        </label>
      </header>
      <div className={s.messages} tabIndex={0} role="log" aria-label="Messages">
        <Loaded query={{ data: messages, error: query.error, refetch: query.refetch }} what="messages">
          {(list) =>
            list.length === 0 ? (
              <Empty icon="chat" title="No messages yet">
                <span>Write to all agents and people. @ mentions one of them.</span>
              </Empty>
            ) : (
              <ul>
                {list.map((message) => (
                  <Message key={message.id} message={message} />
                ))}
              </ul>
            )
          }
        </Loaded>
        <div ref={end} />
      </div>
      <form className="row" onSubmit={submit}>
        <input
          className="input grow"
          aria-label="Message"
          placeholder={why ?? 'Write a message'}
          disabled={why !== undefined}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" tone="primary" why={why} busy={send.isPending} disabled={text.trim() === ''}>
          <Icon name="send" />
          Send
        </Button>
      </form>
    </div>
  );
}
