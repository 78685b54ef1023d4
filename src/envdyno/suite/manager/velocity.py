"""The velocity tasks, declared as terms."""

from __future__ import annotations

from functools import partial

from envdyno.suite.manager.configuration import (
    EventMode,
    EventTerm,
    JointPositionAction,
    ManagerConfiguration,
    ObservationGroup,
    ObservationTerm,
    RewardTerm,
    TerminationTerm,
)
from envdyno.suite.manager.terms import events, observations, rewards, terminations
from envdyno.suite.manager.terms.commands import GaitClock, UniformVelocityCommand
from envdyno.suite.tasks.velocity import VelocityTask


def configure_velocity(task: VelocityTask) -> ManagerConfiguration:
    """Declare ``task``."""
    return ManagerConfiguration(
        action=JointPositionAction(task.size.robot.action_scale),
        commands={
            "velocity": partial(UniformVelocityCommand, ranges=task.commands),
            "gait": partial(GaitClock, gait=task.gait),
        },
        policy=ObservationGroup(_policy_terms(task), corrupted=True),
        critic=ObservationGroup(_critic_terms(task), corrupted=False),
        rewards=_reward_terms(task),
        terminations={
            "time_out": TerminationTerm(terminations.time_out, time_out=True),
            "tilted": TerminationTerm(
                terminations.bad_orientation, {"least_upright": task.terminations.least_upright}
            ),
            "low": TerminationTerm(
                terminations.root_height_below_minimum, {"minimum": task.terminations.least_height}
            ),
            "diverged": TerminationTerm(terminations.diverged),
        },
        events=_event_terms(task),
        soft_limit=task.reward_parameters.soft_limit,
        contact_force=task.reward_parameters.contact_force,
    )


def _policy_terms(task: VelocityTask) -> dict[str, ObservationTerm]:
    scales, noise = task.scales, task.noise
    return {
        "base_ang_vel": ObservationTerm(
            observations.base_ang_vel, scale=scales.angular_velocity, noise=noise.angular_velocity
        ),
        "projected_gravity": ObservationTerm(observations.projected_gravity, noise=noise.gravity),
        "command": ObservationTerm(observations.generated_command, {"command": "velocity"}),
        "joint_pos": ObservationTerm(observations.joint_pos_rel, noise=noise.joint_angle),
        "joint_vel": ObservationTerm(
            observations.joint_vel, scale=scales.joint_velocity, noise=noise.joint_velocity
        ),
        "last_action": ObservationTerm(observations.last_action),
        "gait_clock": ObservationTerm(observations.generated_command, {"command": "gait"}),
    }


def _critic_terms(task: VelocityTask) -> dict[str, ObservationTerm]:
    velocity = ObservationTerm(observations.base_lin_vel, scale=task.scales.linear_velocity)
    return {**_policy_terms(task), "base_lin_vel": velocity}


def _reward_terms(task: VelocityTask) -> dict[str, RewardTerm]:
    weights, values = task.weights, task.reward_parameters
    tracking = {"command": "velocity", "variance": values.tracking_variance}
    moving = {"command": "velocity", "least_command": values.moving_command}
    return {
        "track_lin_vel": RewardTerm(rewards.track_lin_vel, weights.track_linear_velocity, tracking),
        "track_ang_vel": RewardTerm(rewards.track_ang_vel, weights.track_angular_velocity, tracking),
        "lin_vel_z": RewardTerm(rewards.lin_vel_z_l2, weights.vertical_velocity),
        "ang_vel_xy": RewardTerm(rewards.ang_vel_xy_l2, weights.roll_pitch_rate),
        "flat_orientation": RewardTerm(rewards.flat_orientation_l2, weights.orientation),
        "base_height": RewardTerm(
            rewards.base_height_l2, weights.base_height, {"target": values.height_target}
        ),
        "joint_acc": RewardTerm(rewards.joint_acc_l2, weights.joint_acceleration),
        "action_rate": RewardTerm(rewards.action_rate_l2, weights.action_rate),
        "joint_limits": RewardTerm(rewards.joint_pos_limits, weights.joint_limits),
        "pose": RewardTerm(rewards.joint_deviation_l2, weights.pose, {"joints": values.pose_joints}),
        "gait": RewardTerm(rewards.feet_gait, weights.gait, {"clock": "gait", **moving}),
        "air_time": RewardTerm(
            rewards.feet_air_time, weights.air_time, {"threshold_s": task.gait.air_time_s, **moving}
        ),
        "foot_slip": RewardTerm(rewards.feet_slide, weights.foot_slip),
        "termination": RewardTerm(rewards.is_terminated, weights.termination),
    }


def _event_terms(task: VelocityTask) -> dict[str, EventTerm]:
    return {
        "reset_base": EventTerm(
            events.reset_root_state_uniform,
            EventMode.RESET,
            {"ranges": task.resets, "height": task.size.robot.stand_height},
        ),
        "reset_joints": EventTerm(
            events.reset_joints_by_offset, EventMode.RESET, {"half_width": task.resets.joint_angle}
        ),
        "push": EventTerm(
            events.push_by_setting_velocity,
            EventMode.INTERVAL,
            {"pushes": task.pushes},
            interval_steps=task.pushes.interval_steps,
            stream="push",
        ),
    }
