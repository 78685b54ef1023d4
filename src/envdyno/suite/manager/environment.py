"""Steps a declared task: wires the managers into the suite's step."""

from __future__ import annotations

from envdyno.suite.arrays import BoolArray, FloatArray, RowArray
from envdyno.suite.engines.contract import Engine
from envdyno.suite.environment import SuiteEnvironment, TaskSize
from envdyno.suite.manager.action_manager import ActionManager
from envdyno.suite.manager.command_manager import CommandManager
from envdyno.suite.manager.configuration import ActionApplication, ManagerConfiguration
from envdyno.suite.manager.event_manager import EventManager
from envdyno.suite.manager.observation_manager import ObservationManager
from envdyno.suite.manager.reward_manager import RewardManager
from envdyno.suite.manager.robot_data import ContactSensor, RobotData
from envdyno.suite.manager.termination_manager import TerminationManager
from envdyno.suite.streams import Streams


class ManagerEnvironment(SuiteEnvironment):
    """An environment whose terms are declared in a :class:`ManagerConfiguration`."""

    runtime = "manager"

    def __init__(
        self,
        size: TaskSize,
        configuration: ManagerConfiguration,
        engine: Engine,
        num_envs: int,
        streams: Streams,
        application: ActionApplication = ActionApplication.STEP,
    ) -> None:
        """Make the managers and start every episode."""
        super().__init__(size, engine, num_envs, streams)
        self.action_application = application.value
        self._application = application
        self.robot = RobotData(size.robot, engine, size.step_s, configuration.soft_limit)
        self.feet = ContactSensor(engine, size.step_s, configuration.contact_force)
        self.action_manager = ActionManager(configuration.action, self.robot.default_joint_pos, num_envs)
        self.command_manager = CommandManager(configuration.commands, self)
        self.observation_managers = (
            ObservationManager(configuration.policy, self),
            ObservationManager(configuration.critic, self),
        )
        self.reward_manager = RewardManager(configuration.rewards, self)
        self.termination_manager = TerminationManager(configuration.terminations, self)
        self.event_manager = EventManager(configuration.events, self)
        self.log: dict[str, float] = {}
        """Means over the episodes that ended in the latest step with a reset."""
        self.start()

    def apply_action(self, actions: FloatArray) -> None:
        """Process the action, then let interval events happen."""
        self.action_manager.process_action(actions)
        self.robot.before_step()
        self.event_manager.apply_intervals()

    def simulate(self) -> None:
        """Advance by one control step."""
        if self._application is ActionApplication.STEP:
            self.engine.step(self.action_manager.joint_targets())
            return
        diverged = self.engine.diverged.copy()
        diverged[:] = False
        for _ in range(self.size.substeps):
            self.engine.substep(self.action_manager.joint_targets())
            diverged |= self.engine.diverged
        self.engine.diverged[:] = diverged

    def refresh(self) -> None:
        """Derive the robot's data, and let sensors and commands look at it."""
        if self.engine.diverged.any():
            self.action_manager.reset(self.engine.diverged)
        self.robot.after_step()
        self.feet.after_step()
        self.command_manager.sense()

    def terminate(self, terminated: BoolArray, truncated: BoolArray) -> None:
        """Evaluate the termination terms."""
        terminated[:], truncated[:] = self.termination_manager.compute()

    def evaluate(self, out: FloatArray) -> None:
        """Evaluate the reward terms."""
        out[:] = self.reward_manager.compute()

    def advance_commands(self) -> None:
        """Let a control step pass for the commands."""
        self.command_manager.advance()

    def observe(self, policy: FloatArray, critic: FloatArray) -> None:
        """Evaluate both observation groups for every row."""
        for manager, out in zip(self.observation_managers, (policy, critic), strict=True):
            out[:] = manager.compute(slice(None), out.shape[1])

    def observe_rows(self, rows: RowArray, policy: FloatArray, critic: FloatArray) -> None:
        """Evaluate both observation groups for rows that were reset."""
        for manager, out in zip(self.observation_managers, (policy, critic), strict=True):
            out[rows] = manager.compute(rows, out.shape[1])

    def reset_rows(self, rows: RowArray) -> None:
        """Log the ended episodes, then let reset events and commands begin new ones."""
        self.log = {**self.reward_manager.reset(rows), **self.termination_manager.reset(rows)}
        self.event_manager.apply_resets(rows)
        self.action_manager.reset(rows)
        self.feet.after_reset(rows)
        self.command_manager.reset(rows)
        self.robot.after_reset(rows)
