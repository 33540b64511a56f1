"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.accounts import settings_views, views

app_name = "accounts"
urlpatterns = [
    path("sign-up", views.sign_up, name="sign_up"),
    path("login", views.log_in, name="login"),
    path("login/code", views.code, name="code"),
    path("logout", views.log_out, name="logout"),
    path("reset", views.ask_for_reset, name="ask_for_reset"),
    path("reset/sent", views.reset_sent, name="reset_sent"),
    path("reset/<str:user>/<str:token>", views.reset, name="reset"),
    path("account/verify", settings_views.ask_for_verification, name="ask_for_verification"),
    path("verify/<str:token>", views.verify, name="verify"),
    path("account", settings_views.profile, name="settings"),
    path("account/password", settings_views.password, name="password"),
    path("account/delete", settings_views.delete, name="delete"),
    path("account/second-factor", settings_views.set_up_second_factor, name="second_factor"),
    path("account/second-factor/codes", settings_views.renew_backup_codes, name="backup_codes"),
    path("account/second-factor/off", settings_views.switch_off_second_factor, name="second_factor_off"),
    path("people", settings_views.people, name="people"),
    path("people/<str:username>", settings_views.change_person, name="person"),
]
