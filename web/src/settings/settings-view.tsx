import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Agents } from './agents';
import { People } from './people';
import { Policies } from './policies';
import { Presets } from './presets';
import { Repositories } from './repositories';
import { Sessions } from './sessions';

/** Agents with presets and checks, repositories, policies, people and keys, and the sessions of the caller. */
export function SettingsView() {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  useEffect(() => {
    document.getElementById(hash)?.scrollIntoView();
  }, [hash]);
  return (
    <div className="view">
      <header>
        <h1>Settings</h1>
      </header>
      <Agents />
      <Presets />
      <div id="repositories">
        <Repositories />
      </div>
      <Policies />
      <People />
      <Sessions />
    </div>
  );
}
