import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { arrayPage, readAll } from '../api/list';
import { queryClient } from '../api/query-client';
import { useForbidden, useMay, useSession } from '../app/session';
import { Button } from '../ui/button';
import { Badge, Id, Loaded, Panel, Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { Ago } from '../ui/time';
import { Keys } from './keys';

type Member = Schema<'Member'>;
export type Role = Member['role'];
export const roles: readonly Role[] = ['admin', 'agent', 'read-only'];

const refresh = () => queryClient.invalidateQueries({ queryKey: keys.people });

export function RoleChoice({ label, value, disabled, onChange }: RoleChoiceProps) {
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      disabled={disabled === true}
      onChange={({ target }) => onChange(roles.find((role) => role === target.value) ?? value)}
    >
      {roles.map((role) => (
        <option key={role}>{role}</option>
      ))}
    </select>
  );
}

interface RoleChoiceProps {
  label: string;
  value: Role;
  disabled?: boolean;
  onChange: (role: Role) => void;
}

function MemberRow({ workspaceId, member }: { workspaceId: string; member: Member }) {
  const why = useForbidden()('admin:manage');
  const { id: memberId, displayName, email, role, status, userId } = member;
  const name = displayName || email || userId;
  const change = useMutation({
    mutationFn: (body: Schema<'MemberPatch'>) =>
      unwrap(
        board.PATCH('/api/identity/workspaces/{workspaceId}/members/{memberId}', {
          params: { path: { workspaceId, memberId } },
          body,
        }),
      ),
    onSettled: refresh,
  });
  const isActive = status === 'active';
  return (
    <li className="row wrap">
      <strong>{name}</strong>
      <span className="meta grow">{email}</span>
      {isActive ? null : (
        <Badge tone="amber" icon="blocked">
          {status}
        </Badge>
      )}
      <RoleChoice
        label={`Role of ${name}`}
        value={role}
        disabled={why !== undefined || change.isPending}
        onChange={(next) => change.mutate({ role: next })}
      />
      <Button
        small
        why={why}
        busy={change.isPending}
        aria-label={`${isActive ? 'Suspend' : 'Readmit'} ${name}`}
        onClick={() => change.mutate({ status: isActive ? 'suspended' : 'active' })}
      >
        {isActive ? 'Suspend' : 'Readmit'}
      </Button>
    </li>
  );
}

/** A secret that the service shows once. */
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <p className="notice" role="status">
      <span className="grow">{label}</span>
      <Id id={value} short={false} />
    </p>
  );
}

function Invite({ workspaceId }: { workspaceId: string }) {
  const why = useForbidden()('admin:manage');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('agent');
  const invite = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(
        board.POST('/api/identity/workspaces/{workspaceId}/invitations', {
          params: { path: { workspaceId } },
          body: { email: email.trim(), role },
        }),
      ),
    onSuccess: async () => {
      setEmail('');
      await refresh();
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row wrap">
        <input
          className="input grow"
          type="email"
          aria-label="Address of the person to invite"
          placeholder="name@example.com"
          required
          disabled={why !== undefined}
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
        <RoleChoice label="Role of the invited person" value={role} disabled={why !== undefined} onChange={setRole} />
        <Button type="submit" icon="plus" why={why} busy={invite.isPending}>
          Invite
        </Button>
      </div>
      {invite.error ? <Problem error={invite.error} /> : null}
      {invite.data ? (
        <Secret label={`Give ${invite.data.email} this code; it is shown once.`} value={invite.data.token} />
      ) : null}
    </form>
  );
}

function Invitations({ workspaceId }: { workspaceId: string }) {
  const query = useQuery({
    queryKey: [...keys.people, 'invitations'],
    staleTime: 0,
    queryFn: () =>
      readAll((cursor) =>
        arrayPage(
          board.GET('/api/identity/workspaces/{workspaceId}/invitations', {
            params: { path: { workspaceId }, query: { limit: 100, ...(cursor && { cursor }) } },
          }),
        ),
      ),
  });
  const revoke = useMutation({
    mutationFn: (id: string) =>
      unwrap(board.POST('/api/identity/invitations/{id}/revoke', { params: { path: { id } } })),
    onSettled: refresh,
  });
  return (
    <Loaded query={query} what="invitations">
      {(list) =>
        list
          .filter(({ state }) => state === 'pending')
          .map(({ id, email, role, expiresAt }) => (
            <li key={id} className="row wrap">
              <strong>{email}</strong>
              <span className="meta grow">
                invited as {role}, until <Ago at={expiresAt} />
              </span>
              <Button small aria-label={`Revoke the invitation of ${email}`} onClick={() => revoke.mutate(id)}>
                Revoke
              </Button>
            </li>
          ))
      }
    </Loaded>
  );
}

/** Who belongs to the workspace, who is invited, and the keys of programs. */
export function People() {
  const may = useMay();
  const mayManage = may('admin:manage');
  const workspaceId = useSession()?.context?.workspaceId ?? 'local';
  const query = useQuery({
    queryKey: [...keys.people, 'members'],
    staleTime: 0,
    enabled: may('workspace:read'),
    queryFn: () =>
      readAll((cursor) =>
        arrayPage(
          board.GET('/api/identity/workspaces/{workspaceId}/members', {
            params: { path: { workspaceId }, query: { limit: 100, ...(cursor && { cursor }) } },
          }),
        ),
      ),
  });
  if (!may('workspace:read')) {
    return null;
  }
  return (
    <>
      <Panel title="People" flush>
        <ul className="rows">
          <Loaded query={query} what="people">
            {(members) =>
              members.length === 0 ? (
                <li className="meta">No one has an account here yet: invite the first person.</li>
              ) : (
                members.map((member) => <MemberRow key={member.id} workspaceId={workspaceId} member={member} />)
              )
            }
          </Loaded>
          {mayManage ? <Invitations workspaceId={workspaceId} /> : null}
          {mayManage ? (
            <li>
              <Invite workspaceId={workspaceId} />
            </li>
          ) : null}
        </ul>
      </Panel>
      {mayManage ? <Keys workspaceId={workspaceId} /> : null}
    </>
  );
}
